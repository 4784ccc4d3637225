import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { decrypterOf, encrypterOf } from './age-keys.ts';
import { readArchive } from './read-archive.ts';
import { type Member, writeArchive } from './write-archive.ts';

const mib = 1_048_576;
const passphrase = 'correct horse battery staple';

test('at most a few members are in memory, however many there are', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'archive-'));
  const file = join(folder, 'a.age');
  const encrypter = encrypterOf({ BACKUP_RECIPIENTS: [], BACKUP_PASSPHRASE: passphrase });
  encrypter.setScryptWorkFactor(4);
  let [made, ahead] = [0, 0];
  const written = () => {
    const [draft] = readdirSync(folder);
    return draft === undefined ? 0 : statSync(join(folder, draft)).size;
  };
  async function* members(): AsyncGenerator<Member> {
    for (let index = 0; index < 48; index += 1) {
      ahead = Math.max(ahead, made - written());
      yield { name: `part/${index}`, content: randomBytes(mib) }; // cannot be compressed
      made += mib;
    }
  }
  await writeArchive(file, encrypter, members());
  expect(ahead).toBeLessThan(4 * mib);

  const decrypter = decrypterOf({ BACKUP_PASSPHRASE: passphrase });
  let bytes = 0;
  await readArchive(file, decrypter, async (found) => {
    for await (const { content } of found) for await (const chunk of content) bytes += chunk.length;
  });
  expect(bytes).toBe(48 * mib);
  rmSync(folder, { recursive: true });
});
