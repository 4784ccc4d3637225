import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startSandbox } from '../../../src/sandbox.ts';
import { cloudBClient, errorWith } from './cloudb-harness.ts';

test('a restarted sandbox has all versions, deletions and keys', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const options = { dataFile: join(folder, 'data'), cloudB: { deletionMs: 0, recoveryMs: 0, purgeMs: 0 } };
  try {
    const before = await startSandbox(options);
    const client = cloudBClient(before);
    const first = await client.setSecret('db', 'one', { tags: { team: 'a' } });
    await client.setSecret('db', 'two');
    for (const name of ['deleted', 'purged', 'recovered']) {
      await client.setSecret(name, 'x');
      await client.beginDeleteSecret(name);
    }
    await client.purgeDeletedSecret('purged');
    await client.beginRecoverDeletedSecret('recovered');
    await before.stop();

    const after = await startSandbox(options);
    const later = cloudBClient(after);
    expect((await later.getSecret('db')).value).toBe('two');
    expect(await later.getSecret('db', { version: first.properties.version! })).toMatchObject({
      value: 'one',
      properties: { tags: { team: 'a' } },
    });
    expect((await later.getSecret('recovered')).value).toBe('x');
    expect((await later.getDeletedSecret('deleted')).name).toBe('deleted');
    await expect(later.getDeletedSecret('purged')).rejects.toEqual(errorWith(404, 'SecretNotFound'));
    await after.stop();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
