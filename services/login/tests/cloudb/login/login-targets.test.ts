import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { rowGuard } from '@secrets/access';
import type { Sql } from '@secrets/db';
import { loginTargets } from '../../../src/auth-methods/cloudb/login/login-targets.ts';
import { type CloudBForTest, oid, startCloudBForTest } from '../../login-for-test.ts';

const largeRoles = 40;
let cloudB: CloudBForTest;

beforeAll(async () => {
  cloudB = await startCloudBForTest();
  const item = 'x'.repeat(512);
  const bounds = Array.from({ length: 1_000 }, () => item);
  await cloudB.writeRole('large-1', { bound_group_ids: bounds, bound_service_principal_ids: bounds });
  await cloudB.service.db.query(
    `insert into login.cloudb_roles (mount_id, name, settings)
     select mount_id, 'large-' || n, settings from login.cloudb_roles, generate_series(2, $1::integer) n
      where name = 'large-1'`,
    [largeRoles],
  );
});
afterAll(() => cloudB.stop());

/** The cache, and the roles that it has read from the database since the last call. */
function recordedTargets() {
  const { db } = cloudB.service;
  const reads: unknown[] = [];
  let statements = 0;
  const recording: Sql = {
    query: (text, values) => {
      statements += 1;
      if (text.includes('cloudb_roles')) reads.push(values?.[2]);
      return db.query(text, values);
    },
  };
  const targets = loginTargets({ db: recording, rows: rowGuard(undefined) });
  return {
    find: (role: string, newestChange?: string) =>
      targets({ namespaceId: 'root', mount: 'cloudB', newestChange }, role),
    reads: () => reads.splice(0),
    statements: () => statements,
  };
}

test('the cached roles take a bounded amount of memory', async () => {
  const { find, reads } = recordedTargets();
  await find('web');
  await find('web');
  expect(reads()).toEqual(['web']);
  for (let n = 1; n <= largeRoles; n++) await find(`large-${n}`); // 1 MB each
  reads();
  await find(`large-${largeRoles}`);
  expect(reads()).toEqual([]);
  await find('large-1');
  expect(reads()).toEqual(['large-1']);
});

test('a login runs no statement if the gateway has just read the changes, and there is none', async () => {
  const { find, reads, statements } = recordedTargets();
  const { service } = cloudB;
  await find('web');
  const before = await service.newestChange();
  const first = statements();
  await find('web', before);
  expect(statements()).toBe(first);
  reads();
  await cloudB.writeRole('web', { bound_service_principal_ids: [oid], token_ttl: '1h' });
  expect((await find('web', await service.newestChange()))?.role).toMatchObject({ token_ttl: 3_600 });
  expect(reads()).toEqual(['web']);
  const last = statements();
  await find('web', before); // of a gateway that has not seen the change yet
  expect(statements()).toBe(last + 1);
});
