import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openCopySession } from '@secrets/db';
import { readKeyRing } from '@secrets/seal';
import { silentLogger } from '@secrets/telemetry';
import { decrypterOf, encrypterOf } from '../../src/backup/archive/age-keys.ts';
import { backup } from '../../src/backup/backup.ts';
import { describeTables, quotedColumns, quotedName } from '../../src/backup/database/describe-database.ts';
import { checkArchive, restore } from '../../src/backup/restore.ts';

export const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Runs a command of setup with an environment of its own. Rejects, with its log, if it fails. */
export const run = (command: string, env: Record<string, string>) =>
  promisify(execFile)(process.execPath, [program, command], { env, timeout: 120_000 });

export const passphrase = randomBytes(24).toString('base64');

const log = silentLogger();

/** Encrypts with a cheap key derivation: the default of age takes a second. */
export function quickEncrypter() {
  const encrypter = encrypterOf({ BACKUP_RECIPIENTS: [], BACKUP_PASSPHRASE: passphrase });
  encrypter.setScryptWorkFactor(10);
  return encrypter;
}

export const decrypter = (secret = passphrase) => decrypterOf({ BACKUP_PASSPHRASE: secret });

export const backUp = (databaseUrl: string, file: string) =>
  backup({ databaseUrl, file, encrypter: quickEncrypter(), settings: [], log });

export const check = (file: string, sealKeyFiles: string[], secret = passphrase) =>
  checkArchive(
    { file, decrypter: decrypter(secret) },
    new Map(sealKeyFiles.map((one) => [one, readKeyRing(one)])),
    log,
  );

export const restoreInto = async (databaseUrl: string, file: string, sealKeyFiles: string[]) =>
  restore(await check(file, sealKeyFiles), { databaseUrl, replaces: false, log });

/** Writes a new key file, and returns its path. */
export function keyFile(path: string): string {
  writeFileSync(path, `k1:${randomBytes(32).toString('base64')} bound\n`, { mode: 0o600 });
  return path;
}

/** Returns a hash of the rows of each table, and their number. */
export async function contentOf(url: string): Promise<Record<string, string>> {
  const session = await openCopySession(url, 'test');
  try {
    const content: Record<string, string> = {};
    for (const table of await describeTables(session)) {
      const chunks: Uint8Array[] = [];
      const rows = `copy ${quotedName(table)} (${quotedColumns(table)}) to stdout`;
      for await (const chunk of session.copyOut(rows)) chunks.push(chunk);
      const lines = Buffer.concat(chunks).toString().split('\n').sort();
      const hash = createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12);
      content[quotedName(table)] = `${lines.length - 1} ${hash}`;
    }
    return content;
  } finally {
    await session.close();
  }
}
