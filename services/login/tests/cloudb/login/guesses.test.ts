import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CloudBWithTable, startCloudBWithTable } from '../decision/cloudb-with-table.ts';
import { machine } from '../decision/row.ts';
import { bare, machineId, subscription, systemToken } from '../decision/world.ts';

const bound = { bound_subscription_ids: subscription, bound_resource_groups: 'rg' };
const web1 = systemToken(machineId('web-1'));
const web10 = systemToken(machineId('web-10'));
let cloudB: CloudBWithTable;

beforeAll(async () => {
  cloudB = await startCloudBWithTable();
  await cloudB.writeRole('placed', bound);
});
afterAll(() => cloudB.stop());

const calls = () => cloudB.sandbox.resourceManager.calls().length;
const statusOf = async (token: typeof web1, name: string) =>
  (await cloudB.logInFrom(token, { role: 'placed', ...machine(name) })).status;
const count = (statuses: number[], status: number) => statuses.filter((one) => one === status).length;

test('a principal whose token names no resource may guess ten names a minute, also at the same time', async () => {
  const before = calls();
  const guesses = Array.from({ length: 40 }, (_, n) => statusOf(bare(web10), `guess-${n}`));
  const statuses = await Promise.all(guesses);
  expect([count(statuses, 403), count(statuses, 429)]).toEqual([10, 30]);
  expect(calls() - before).toBe(10);
  const limited = await cloudB.logInFrom(bare(web10), { role: 'placed', ...machine('web-10') });
  expect(limited).toMatchObject({
    status: 429,
    body: { errors: [expect.stringMatching(/too many logins/)] },
  });
  expect(limited.headers.get('retry-after')).toMatch(/^([1-9]|[1-5]\d|60)$/);
});

test('neither other principals nor tokens that name their resource are limited by that', async () => {
  expect(await statusOf(web10, 'web-10')).toBe(200);
  expect(await statusOf(bare(web1), 'web-1')).toBe(200);
});

test('logins that succeed do not count', async () => {
  for (let n = 0; n < 15; n++) expect(await statusOf(bare(web1), 'web-1')).toBe(200);
});

test('logins that an outage prevents do not count', async () => {
  const { faults } = cloudB.sandbox.resourceManager;
  await cloudB.configure();
  faults.add({ effect: 'server-error' });
  for (let n = 0; n < 12; n++) expect(await statusOf(bare(web1), 'web-1')).toBe(503);
  faults.clear();
  expect(await statusOf(bare(web1), 'web-1')).toBe(200);
});
