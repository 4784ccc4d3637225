import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { attacks } from './attacks.ts';
import { boundRows, kinds } from './bound-rows.ts';
import { type CloudBWithTable, startCloudBWithTable } from './cloudb-with-table.ts';
import type { Row } from './row.ts';
import { rows } from './rows.ts';
import { kelvin } from './world.ts';

// A sample of the decision table through the API, with the official SDKs and the simulated provider.

let cloudB: CloudBWithTable;

beforeAll(async () => {
  cloudB = await startCloudBWithTable();
});
afterAll(() => cloudB.stop());

/** For each kind of identity, one row whose bounds match and one whose bounds do not. */
const boundSample = kinds.flatMap(({ kind }) => {
  const own = boundRows.filter(({ name }) => name.startsWith(`of ${kind} with bound_resource_groups, `));
  return [
    own.find(({ refused }) => refused === undefined)!,
    own.find(({ refused }) => refused !== undefined)!,
  ];
});
const hasKelvin = (row: Row) => JSON.stringify(row).includes(kelvin);
const sample = [...rows, ...attacks, ...boundSample].filter(
  (row) => !hasKelvin(row) && row.machines === undefined,
);

test.each(sample.map((row, index) => [row.name, index, row] as const))(
  'a login %s',
  async (_name, index, row) => {
    await cloudB.configure({ require_principal_binding: row.requirePrincipalBinding ?? false });
    const role = `row-${index}`;
    expect((await cloudB.writeRole(role, row.role)).status).toBeLessThan(300);
    const { status, body } = await cloudB.logInFrom(row.token, { role, ...row.request });
    if (row.refused === undefined) {
      expect([status, body.errors]).toEqual([200, undefined]);
      return;
    }
    expect(body.errors[0]).toContain(row.refused);
    expect(status).toBe(row.refused.endsWith('is required') ? 400 : 403);
  },
);
