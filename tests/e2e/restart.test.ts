import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  eventually,
  expectStatus,
  type Fixture,
  fixture,
  type Installation,
  startInstallation,
} from './installation.ts';

let system: Installation;
let at: Fixture;

beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());
beforeEach(async () => {
  await system.clearFaults();
  at = await fixture(system);
});

const names = Array.from({ length: 20 }, (_, index) => `app/s${index}`);
const crash = () => system.service.crash!();
const soon = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function writeAll(value: string): Promise<void> {
  for (const name of names)
    expectStatus(await system.api('POST', `${at.mount}/data/${name}`, { data: { value } }), 200);
}

async function setAll(): Promise<void> {
  for (const name of names) {
    const body = { mount: at.mount, secret_name: name };
    expectStatus(await system.api('POST', `${at.path}/associations/set?wait=0`, body), 200);
  }
}

/** Every secret's status and value outside, each once. */
async function seen(): Promise<{ statuses: string[]; values: string[] }> {
  const { associated_secrets: all } = (await system.api('GET', `${at.path}/associations`)).body.data;
  const held = await system.outside();
  const lines = Object.values<{ sync_status: string; external_name: string }>(all);
  return {
    statuses: [...new Set(lines.map(({ sync_status: status }) => status))],
    values: [...new Set(lines.map(({ external_name: name }) => held[name]?.value ?? 'none'))],
  };
}

async function comesRight(value: string): Promise<void> {
  const right = { statuses: ['SYNCED'], values: [JSON.stringify({ value })] };
  const last = await eventually(seen, (one) => JSON.stringify(one) === JSON.stringify(right));
  expect(last).toEqual(right);
}

test('kill -9 between the answer to set and the sync', async () => {
  await writeAll('first');
  await system.fault({ effect: 'slow', ms: 2_000 });
  await setAll();
  await crash();
  await comesRight('first');
});

test('kill -9 in the middle of the store’s calls, and again before the new start has caught up', async () => {
  await writeAll('first');
  await setAll();
  await comesRight('first');
  await system.fault({ effect: 'slow', ms: 1_500 });
  await writeAll('second');
  await soon(500);
  await crash();
  await system.fault({ effect: 'slow', ms: 1_500 });
  await soon(700);
  await crash();
  await comesRight('second');
});

test('kill -9 after the store has acted and before its answer came', async () => {
  await writeAll('first');
  await system.fault({ effect: 'act-then-die', times: 10 });
  await setAll();
  await soon(150);
  await crash();
  await comesRight('first');
  const versions = Object.values(await system.outside()).filter(({ value }) => value.includes('first'));
  for (const { version_count: count } of versions) expect(count).toBeLessThanOrEqual(2);
});

test('kill -9 while syncing is disabled: what waits goes on waiting, and is done when it is enabled', async () => {
  await system.api('PATCH', 'sys/sync/config', { disabled: true });
  await writeAll('first');
  await setAll();
  await crash();
  await soon(1_000);
  expect(await seen()).toEqual({ statuses: ['PENDING'], values: ['none'] });
  await system.api('PATCH', 'sys/sync/config', { disabled: false });
  await comesRight('first');
});

test('kill -9 during a purge: it goes on to its end', async () => {
  await writeAll('first');
  await setAll();
  await comesRight('first');
  await system.fault({ effect: 'slow', ms: 1_000 });
  expectStatus(await system.api('DELETE', `${at.path}?purge=true`), 204);
  await soon(1_200);
  await crash();
  const gone = await eventually(
    () => system.api('GET', at.path),
    ({ status }) => status === 404,
  );
  expect(gone.status).toBe(404);
  const left = Object.keys(await system.outside()).filter((name) => name.includes(at.accessor));
  expect(left).toEqual([]);
});
