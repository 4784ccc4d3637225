import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sandboxTypes, withoutBudgets } from '../../harness/destination-types.ts';
import { eventually } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';
import { createUnowned, inShort, type Unowned } from './unowned-secrets.ts';

let system: Installation;

beforeAll(async () => {
  Object.assign(process.env, withoutBudgets);
  system = await startInstallation();
});
afterAll(() => system?.stop());

const readableTypes = sandboxTypes.filter(({ type }) => type !== 'codehost');

/** Waits until every association of the destination is synced. */
const synced = async ({ path }: Unowned, count: number) =>
  Object.values(
    await eventually(
      async () => associatedSecrets(await system.api('GET', `${path}/associations`)),
      (lines) =>
        Object.keys(lines).length === count &&
        Object.values(lines).every((one) => one.sync_status === 'SYNCED'),
    ),
  );

/** The operations that a store has carried out after so many. */
const operationsSince = async (type: string, before: number) =>
  (await system.sandbox.calls(type))
    .slice(before)
    .filter(({ outcome }) => Number(outcome) < 300)
    .map(({ operation }) => operation);

test.each(readableTypes)(
  'an import brings values into a mount and takes the external secrets over ($type)',
  async ({ type }) => {
    const at = await createUnowned(system, type, ['{"a":"canary-1"}', '{"b":"canary-2"}']);
    const before = (await system.sandbox.calls(type)).length;
    const started = expectStatus(await at.start(), 200);
    const ended = await at.ended();
    expect(inShort(ended)).toEqual(['s0 new written associated', 's1 new written associated']);
    expect(ended).toMatchObject({ state: 'done', error: null, counts: { new: 2 } });
    expect(JSON.stringify([started.body, ended])).not.toContain('canary');
    for (const [secret, data] of [
      ['s0', { a: 'canary-1' }],
      ['s1', { b: 'canary-2' }],
    ] as const) {
      const read = expectStatus(await system.api('GET', `${at.mount}/data/${secret}`), 200).body.data;
      expect(read).toMatchObject({ data, metadata: { version: 1 } });
      const origin = `${type}/${at.destination}/${at.names[Number(secret[1])]}`;
      expect(read.metadata.custom_metadata).toEqual({ imported_from: origin });
    }
    await synced(at, 2);
    expect(await system.sandbox.find(type, at.names[0]!)).toMatchObject({ value: '{"a":"canary-1"}' });
    const { puts } = sandboxTypes.find((one) => one.type === type)!;
    if (type !== 'webhost-project')
      for (const put of puts) expect(await operationsSince(type, before)).not.toContain(put);
  },
);

test('an import of plain text takes over only if the destination pushes the key', async () => {
  const at = await createUnowned(system, 'cloudA-sm', ['canary-3', 'canary-4']);
  expectStatus(await at.start({ names: at.names.slice(0, 1), as: 'key' }), 200);
  expect(inShort(await at.ended())).toEqual([
    's0 new written refused not associated: it was imported as the key value, but the destination pushes JSON; see value_key',
  ]);
  expectStatus(await system.api('PATCH', at.path, { value_key: 'value' }), 200);
  const before = (await system.sandbox.calls('cloudA-sm')).length;
  expectStatus(await at.start({ names: at.names, as: 'key' }), 200);
  expect(inShort(await at.ended())).toEqual(['s0 same_value associated', 's1 new written associated']);
  await synced(at, 2);
  expect(await operationsSince('cloudA-sm', before)).not.toContain('PutSecretValue');
  expect(await system.sandbox.find('cloudA-sm', at.names[0]!)).toMatchObject({ value: 'canary-3' });
});

test('an import never pushes another value, nor under another name', async () => {
  const at = await createUnowned(system, 'cloudA-sm', ['{"a":1}', '{"a":2}']);
  expectStatus(await system.api('POST', `${at.mount}/data/s0`, { data: { a: 'mine' } }), 200);
  const path = `${at.mount}-{{ .ExternalName }}`;
  expectStatus(await at.start({ match: at.names[1]!, path }), 200);
  const [line] = (await at.ended()).external_secrets;
  expect(line).toMatchObject({ result: 'new', association: 'refused' });
  expect(line!.reason).toContain('the secret_name_template of the destination names it x');
  expectStatus(await at.start({ names: at.names.slice(0, 1) }), 200);
  expect(inShort(await at.ended())).toEqual(['s0 other_value']);
  expect(associatedSecrets(await system.api('GET', `${at.path}/associations`))).toEqual({});
  expect(await system.sandbox.count('cloudA-sm', `${at.names[0]!.slice(0, 9)}*`)).toBe(2);
  expectStatus(await at.start({ names: at.names.slice(0, 1), on_conflict: 'new_version' }), 200);
  expect(inShort(await at.ended())).toEqual(['s0 other_value written associated']);
  const read = expectStatus(await system.api('GET', `${at.mount}/data/s0`), 200).body.data;
  expect(read).toMatchObject({ data: { a: 1 }, metadata: { version: 2 } });
  await synced(at, 1);
});

test('an import continues after the death of sync-control and of the worker, with one page repeated', async () => {
  const count = 120;
  const values = Array.from({ length: count }, (_, index) => `{"n":"${index}"}`);
  const at = await createUnowned(system, 'cloudA-sm', values);
  const slow = await system.sandbox.fault({ effect: 'slow', ms: 20, operation: 'GetSecretValue' });
  const before = (await system.sandbox.calls('cloudA-sm')).length;
  expectStatus(await at.start({ match: `${at.names[0]!.slice(0, 9)}*` }), 200);
  await eventually(at.progress, ({ counts }) => counts.new! >= 50);
  await slow.applied(60); // in the second page
  const operations = await operationsSince('cloudA-sm', before);
  await system.crash();
  await system.sandbox.clearFaults();
  const ended = await at.ended(120_000);
  expect(ended.state).toBe('done');
  expect(ended.counts.new! + ended.counts.same_value!).toBe(count);
  expect(ended.external_secrets.every(({ association }) => association === 'associated')).toBe(true);
  for (const index of [0, 60, count - 1]) {
    const { data, metadata } = expectStatus(await system.api('GET', `${at.mount}/data/s${index}`), 200).body
      .data;
    expect([data, metadata.version]).toEqual([{ n: `${index}` }, 1]);
  }
  await synced(at, count);
  operations.push(...(await operationsSince('cloudA-sm', 0))); // of the sandbox that was started again
  expect(operations).not.toContain('PutSecretValue');
}, 240_000);

test('an import writes what its caller may write, and only within its policies', async () => {
  const at = await createUnowned(system, 'cloudB-kv', ['{"a":1}', '{"a":2}']);
  const name = `importer-${at.destination}`;
  const policy = `
    path "sys/sync/destinations/cloudB-kv/${at.destination}/import" { capabilities = ["read", "update", "delete"] }
    path "sys/sync/destinations/cloudB-kv/${at.destination}/associations/set" { capabilities = ["update"] }
    path "${at.mount}/data/s0" { capabilities = ["create", "read"] }`;
  expectStatus(await system.api('PUT', `sys/policies/acl/${name}`, { policy }), 204);
  const { client_token: token } = expectStatus(
    await system.api('POST', 'auth/token/create', { policies: [name], no_default_policy: true }),
    200,
  ).body.auth;
  const importer = system.as(token);
  expectStatus(await at.start({ names: at.names }, importer), 403);
  expectStatus(await at.start({ match: `${at.names[0]!.slice(0, 9)}*` }, importer), 200);
  expect(inShort(await at.ended())).toEqual([
    's0 new written associated',
    `s1 not_permitted permission denied: your token may not read the secret s1 in mount ${at.mount}`,
  ]);
  expectStatus(await system.api('GET', `${at.mount}/data/s1`), 404);
  expectStatus(await importer('DELETE', `${at.path}/import`), 204);
});

/** A team that enforces sensitive variables. */
const strictTeam = { project_id: 'sandbox-strict', team_id: 'team_strict' };

test.each([
  ['codehost', 'canary-5', {}],
  ['webhost-project', null, strictTeam],
])(
  'what a store does not return is taken over by the first version that somebody writes (%s)',
  async (type, value, fields) => {
    const at = await createUnowned(system, type, [value], fields);
    const before = await system.sandbox.find(type, at.names[0]!);
    const prefix = at.names[0]!.slice(0, 9);
    const listed = type === 'codehost' ? prefix.toUpperCase() : prefix; // as the store shows it
    expectStatus(await at.start({ match: `${listed}*` }), 200);
    expect(inShort(await at.ended())).toEqual(['s0 value_needed awaited']);
    expect(await system.sandbox.find(type, at.names[0]!)).toEqual(before);
    expectStatus(await system.api('POST', `${at.mount}/data/s0`, { data: { a: 'first' } }), 200);
    await synced(at, 1);
    expect(inShort(await at.progress())).toEqual(['s0 value_needed associated']);
    expect(await system.sandbox.find(type, at.names[0]!)).toMatchObject({ value: '{"a":"first"}' });
  },
);
