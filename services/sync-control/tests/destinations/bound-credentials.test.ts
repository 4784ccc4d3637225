import { randomBytes, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type KeyRing, parseKeyRing, sealedWith } from '@secrets/seal';
import { SealRotation } from '@secrets/seal-rotation';
import { silentLogger } from '@secrets/telemetry';
import { sealedTables } from '../../src/destinations/sealed-tables.ts';
import { decryptCredentials, encryptCredentials } from '../../src/destinations/stored-credentials.ts';
import { useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();

const type = 'cloudA-sm';
const newName = () => `d-${randomUUID()}`;
const keys = { access_key_id: 'AKIATEST', secret_access_key: 'canary-value' };
const changeSettings = (name: string, changed: object) =>
  sync.db.query('update sync.destinations set settings = settings || $2::jsonb where name = $1', [
    name,
    JSON.stringify(changed),
  ]);

test('a destination whose connection was changed in the database is refused with 409, and can be deleted', async () => {
  const name = newName();
  const path = `/sys/sync/destinations/${type}/${name}`;
  await sync.call('POST', path, keys);
  await changeSettings(name, { region: 'us-east-1' });
  for (const [method, body] of [['GET'], ['POST', keys], ['PATCH', { recovery_window_days: 7 }]] as const) {
    const refused = await sync.call(method, path, body);
    expect(refused.status).toBe(409);
    expect(refused.body.errors).toEqual([expect.stringContaining('were stored with other settings')]);
  }
  expect((await sync.call('DELETE', path)).status).toBe(204);
});

test('a destination whose options were changed in the database can be read', async () => {
  const name = newName();
  await sync.call('POST', `/sys/sync/destinations/${type}/${name}`, keys);
  await changeSettings(name, { recovery_window_days: 7 });
  expect((await sync.call('GET', `/sys/sync/destinations/${type}/${name}`)).status).toBe(200);
});

test('a rotation to a bound key binds credentials of before; afterwards, what the older key sealed opens nothing', async () => {
  await sync.reset();
  await sync.db.query('delete from sync.seal_keys');
  const line = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
  const before = line('older');
  const after = `${line('newer')} bound`;
  const [olderRing, both] = [parseKeyRing(before, 'test'), parseKeyRing(`${after}\n${before}`, 'test')];
  const name = newName();
  await sync.call('POST', `/sys/sync/destinations/${type}/${name}`, { ...keys, region: 'eu-central-1' });
  const stored = { id: (await read(name)).id, type, settings: { region: 'eu-central-1' } };
  const unbound = encryptCredentials(olderRing, stored, keys);
  await sync.db.query('update sync.destinations set sealed_credentials = $2 where name = $1', [
    name,
    unbound,
  ]);

  await rotate(olderRing);
  await rotate(both);
  const row = await read(name);
  expect(sealedWith(row.sealedCredentials)).toBe('newer');
  const newerRing = parseKeyRing(after, 'test');
  expect(decryptCredentials(newerRing, row)).toEqual(keys);
  expect(() => decryptCredentials(newerRing, { ...row, settings: {} })).toThrow(/other settings/);
  expect(() => decryptCredentials(newerRing, { ...row, sealedCredentials: unbound })).toThrow(/key older/);
});

async function read(name: string) {
  const [row] = await sync.db.query<{
    id: string;
    type: string;
    name: string;
    settings: Record<string, string>;
    sealedCredentials: Uint8Array;
  }>(
    'select id, type, name, settings, sealed_credentials as "sealedCredentials" from sync.destinations where name = $1',
    [name],
  );
  return row!;
}

async function rotate(keyRing: KeyRing): Promise<void> {
  const rotation = new SealRotation(
    { db: sync.db, schema: 'sync', tables: sealedTables, keyRing, log: silentLogger() },
    { pollSeconds: 3_600, quietSeconds: 0 },
  );
  await rotation.begin();
  while ((await rotation.advance()) === 'page');
}
