import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { rowGuard } from '@secrets/access';
import { findCredentials } from '../../../src/auth-methods/cloudb/queries/configs.ts';
import { renewLease, takeLease } from '../../../src/auth-methods/cloudb/queries/rotations.ts';
import { type RotationForTest, startRotationForTest } from './rotation-for-test.ts';

let cloud: RotationForTest;

beforeAll(async () => {
  cloud = await startRotationForTest();
});
beforeEach(() => cloud.beginAgain());
afterAll(() => cloud.stop());

test.each([
  ['the secret', () => cloud.configure({ client_secret: '' })],
  ['the configuration', () => cloud.service.call('DELETE', '/auth/cloudB/config')],
])('a process that has a lease loses it for good if %s is removed', async (_title, remove) => {
  const { service, mountId } = cloud;
  const lost = await takeLease(service.db, mountId);
  await remove();
  await cloud.configure();
  const other = await takeLease(service.db, mountId);
  expect(await renewLease(service.db, lost!)).toBeUndefined();
  expect(await renewLease(service.db, other!)).toBeDefined();
});

// A standby is promoted, or a copy restored, that lacks the newest commits, while this process continues.
test('neither a lease nor a configuration that was lost passes for a later one', async () => {
  const { service, mountId } = cloud;
  const { db } = service;
  const revisionOf = async () =>
    (await findCredentials({ db, rows: rowGuard(undefined) }, mountId))?.revision;
  const kept = async (table: string) => {
    const text = `select to_jsonb(t)::text as row from login.${table} t where mount_id = $1`;
    const [{ row } = { row: '' }] = await db.query<{ row: string }>(text, [mountId]);
    const set = `update login.${table} t set (%) = (select % from jsonb_populate_record(null::login.${table}, $1::jsonb)) where mount_id = $2`;
    return (columns: string) => db.query(set.replaceAll('%', columns), [row, mountId]);
  };
  const [restoreRotation, restoreConfig] = [await kept('cloudb_rotations'), await kept('cloudb_configs')];
  const first = await revisionOf();
  const lease = await takeLease(db, mountId);
  await cloud.configure({ tenant_id: crypto.randomUUID() });
  const lost = await revisionOf();
  await restoreRotation('fence, leased_until');
  await restoreConfig('settings, sealed_client_secret, row_hash');
  const other = await takeLease(db, mountId);
  expect(await renewLease(db, lease!)).toBeUndefined();
  expect(await renewLease(db, other!)).toBeDefined();
  await cloud.configure();
  expect(new Set([first, lost, await revisionOf()]).size).toBe(3);
});
