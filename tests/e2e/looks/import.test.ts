import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sandboxTypes, templateFor, withoutBudgets } from '../../harness/destination-types.ts';
import { eventually } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';

let system: Installation;

beforeAll(async () => {
  Object.assign(process.env, withoutBudgets);
  system = await startInstallation();
});
afterAll(() => system?.stop());

/** A new destination of a type, a mount, and an external secret without an owner, by default with the text `theirs`. */
async function createUnowned(type: string, value = 'theirs') {
  const { api, sandbox } = system;
  const tag = randomBytes(4).toString('hex');
  const mount = `kv-${tag}`;
  expectStatus(await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }), 204);
  const path = `sys/sync/destinations/${type}/d-${tag}`;
  const fields = sandboxTypes.find((one) => one.type === type)!.fields(await sandbox.store(type));
  const secret_name_template = templateFor(type, `x${tag}{{ .SecretPath }}`);
  const naming = { granularity: 'secret-path', secret_name_template };
  expectStatus(await api('POST', path, { ...fields, ...naming }), 200);
  expectStatus(await api('POST', `${mount}/data/s`, { data: { value: 'ours' } }), 200);
  const secret = { mount, secret_name: 's' };
  expectStatus(await api('POST', `${path}/associations/set`, secret), 200);
  const [line] = await eventually(
    async () => Object.values(associatedSecrets(await api('GET', `${path}/associations`))),
    ([one]) => one?.sync_status === 'SYNCED',
  );
  const name = line!.external_name;
  expectStatus(await api('POST', `${path}/associations/remove?keep=true`, secret), 200);
  await eventually(
    async () => associatedSecrets(await api('GET', `${path}/associations`)),
    (lines) => Object.keys(lines).length === 0,
  );
  await sandbox.changeByHand(type, name, 'recreate', value);
  const planned = async (body: object) => {
    const answer = expectStatus(await api('POST', `${path}/import`, { mount, names: [name], ...body }), 200);
    expect(JSON.stringify(answer.body)).not.toContain('theirs');
    const [{ path: to, result, reason }] = answer.body.data.external_secrets;
    expect(to).toBe(name);
    return reason === null ? result : `${result}: ${reason}`;
  };
  const write = async (data: object) =>
    expectStatus(await api('POST', `${mount}/data/${name}`, { data }), 200);
  const takeOver = async () => {
    expectStatus(await api('POST', `${path}/associations/set`, { ...secret, overwrite: true }), 200);
    await eventually(
      async () => Object.values(associatedSecrets(await api('GET', `${path}/associations`))),
      ([one]) => one?.sync_status === 'SYNCED',
    );
  };
  return { name, path, mount, planned, write, takeOver };
}

test.each(sandboxTypes.map(({ type }) => type).filter((type) => type !== 'codehost'))(
  'an import compares what is in a store with the path it would get, and writes nothing (%s)',
  async (type) => {
    const at = await createUnowned(type);
    expect(await at.planned({})).toBe('unreadable: its value is not a JSON object; import it as key');
    expect(await at.planned({ as: 'key' })).toBe('new');
    await at.write({ value: 'theirs', more: 'x' });
    expect(await at.planned({ as: 'key' })).toBe('same_value');
    await at.write({ value: 'mine' });
    expect(await at.planned({ as: 'key' })).toBe('other_value');
    expect(await system.sandbox.find(type, at.name)).toMatchObject({ value: 'theirs' });
  },
);

test('an import cannot compare what a store never returns', async () => {
  const at = await createUnowned('codehost');
  expect(await at.planned({})).toBe('value_needed');
  expect(await at.planned({ associate: false })).toBe('unreadable: the store does not return the value');
});

test('an import lists what matches, in pages', async () => {
  const at = await createUnowned('cloudA-sm');
  const lines: string[] = [];
  for (let after: string | undefined; ; ) {
    const body = { mount: at.mount, match: `*${at.name.slice(1)}`, as: 'key', limit: 1, after };
    const { data } = expectStatus(await system.api('POST', `${at.path}/import`, body), 200).body;
    lines.push(
      ...data.external_secrets.map((line: Record<string, string>) => `${line.external_name} ${line.result}`),
    );
    after = data.next;
    if (after === undefined) break;
  }
  expect(lines).toEqual([`${at.name} new`]);
});

/** The type, and the calls of its store that write a value to a secret which exists. */
test.each([
  ['cloudA-sm', 'PutSecretValue'],
  ['cloudB-kv', 'SetSecret'],
  ['cloudC-sm', 'AddSecretVersion'],
])(
  "a secret that is taken over with an equal value is only marked as the destination's (%s)",
  async (type, writes) => {
    const value = '{"value":"ours"}';
    const at = await createUnowned(type, value);
    const before = (await system.sandbox.calls(type)).length;
    await at.takeOver();
    const calls = (await system.sandbox.calls(type)).slice(before).map(({ operation }) => operation);
    expect(calls.length).toBeGreaterThan(1);
    expect(calls).not.toContain(writes);
    expect(await system.sandbox.find(type, at.name)).toMatchObject({ value });
  },
);
