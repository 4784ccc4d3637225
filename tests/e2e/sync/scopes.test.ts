import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sandboxTypes, withoutBudgets } from '../../harness/destination-types.ts';
import { eventually, eventuallyEqual } from '../../harness/eventually.ts';
import { expectStatus, send } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';

let system: Installation;
let token: string;
beforeAll(async () => {
  Object.assign(process.env, withoutBudgets);
  system = await startInstallation();
  token = (await system.sandbox.store('codehost')).accessToken!;
});
afterAll(() => system?.stop());

describe('a repository', () => {
  /** A repository with a destination and a secret that is synced to it. */
  let repo: string;
  let mount: string;
  let path: string;
  const secret = () => ({ mount, secret_name: 'db' });

  beforeEach(async () => {
    repo = `r-${randomBytes(4).toString('hex')}`;
    mount = `kv-${repo}`;
    path = `sys/sync/destinations/codehost/${repo}`;
    await host('POST', '/orgs/acme/repos', { name: repo, private: true });
    expectStatus(
      await system.api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }),
      204,
    );
    const fields = { access_token: token, repository_owner: 'acme', repository_name: repo };
    expectStatus(await system.api('POST', path, { ...fields, granularity: 'secret-path' }), 200);
    await write('one');
    expectStatus(await system.api('POST', `${path}/associations/set?wait=5`, secret()), 200);
    await reaches('SYNCED');
  });

  /** Calls the code host as somebody else. */
  async function host(method: string, at: string, body?: object): Promise<void> {
    const url = `${system.sandboxUrl}/codehost${at}`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(url, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status).toBeLessThan(300);
  }
  const rename = (name: string) => host('PATCH', `/repos/acme/${repo}`, { name });
  const write = async (value: string) =>
    expectStatus(await system.api('POST', `${mount}/data/db`, { data: { value } }), 200);

  const reaches = (status: string) =>
    eventually(
      async () => JSON.stringify((await system.api('GET', `${path}/associations`)).body),
      (text) => text.includes(`"sync_status":"${status}"`),
    );
  /** The values in each repository of this test. */
  async function held(): Promise<string[]> {
    const { body } = await send(`${system.sandboxUrl}/_sandbox/stores?store=codehost`, 'GET');
    const { secrets } = body.stores.codehost as { secrets: { region: string; value: string }[] };
    return secrets
      .filter(({ region }) => region.includes(repo))
      .map(({ region, value }) => `${region} ${value}`)
      .sort();
  }

  test('a repository that took the name of a renamed one gets no value, and a removal is made in the renamed one', async () => {
    await rename(`${repo}-renamed`);
    await host('POST', '/orgs/acme/repos', { name: repo, private: false });
    await write('two');
    const text = await reaches('CLIENT_SIDE_ERROR');
    expect(text).toMatch(/is now another repository \(ID \d+, was \d+\)/);
    expect(await held()).toEqual([`acme/${repo}-renamed {"value":"one"}`]);
    expectStatus(await system.api('POST', `${path}/associations/remove?wait=5`, secret()), 200);
    await eventually(held, (all) => all.length === 0);
  });

  test('a renamed repository is followed', async () => {
    await rename(`${repo}-renamed`);
    await write('two');
    await eventually(held, (all) => all.join() === `acme/${repo}-renamed {"value":"two"}`);
  });

  test('a repository that was created again is accepted by its ID, and gets everything', async () => {
    const before = (await system.api('GET', path)).body.data.scope_id;
    await host('DELETE', `/repos/acme/${repo}`);
    await host('POST', '/orgs/acme/repos', { name: repo, private: true });
    const check = (await system.api('POST', `${path}/check`)).body.data;
    const [, id] = /\(ID (\d+), was (\d+)\)/.exec(check.steps[1].message) ?? [];
    expect([check.ok, before]).toEqual([false, expect.stringMatching(/^\d+$/)]);
    expect(await held()).toEqual([]);
    const confirmed = await system.api('POST', `${path}/confirm-scope`, { scope_id: id });
    expect(expectStatus(confirmed, 200).body.data.scope_id).toBe(id);
    await eventually(held, (all) => all.join() === `acme/${repo} {"value":"one"}`);
  });
});

/** A destination of another type with a synced secret, and what its store has of it. */
async function synced(type: string) {
  const tag = randomBytes(4).toString('hex');
  const [data, at] = [`kv-${tag}/data/db`, `sys/sync/destinations/${type}/d-${tag}`];
  const body = { mount: `kv-${tag}`, secret_name: 'db' };
  const post = async (to: string, content: object, status = 200) =>
    expectStatus(await system.api('POST', to, content), status);
  const line = async () => Object.values(associatedSecrets(await system.api('GET', `${at}/associations`)))[0];
  await post(`sys/mounts/kv-${tag}`, { type: 'kv', options: { version: '2' } }, 204);
  const own = sandboxTypes.find((one) => one.type === type)!.fields(await system.sandbox.store(type));
  await post(at, { ...own, granularity: 'secret-path' });
  const set = async (value: string) => post(data, { data: { value } });
  await set('one');
  await post(`${at}/associations/set`, body);
  await eventually(line, (one) => one?.sync_status === 'SYNCED');
  const name = (await line())!.external_name;
  return {
    set,
    untilRefused: () => eventually(line, (one) => one?.sync_status === 'CLIENT_SIDE_ERROR'),
    remove: () => post(`${at}/associations/remove`, body),
    scopeId: async (): Promise<string> => (await system.api('GET', at)).body.data.scope_id,
    confirm: (id: string) => post(`${at}/confirm-scope`, { scope_id: id }),
    external: async () => (await system.sandbox.find(type, name))?.value,
  };
}

const json = (value: string) => JSON.stringify({ value });

/** Without the code host, where secrets that exist in a confirmed scope are foreign. */
const types = sandboxTypes.map(({ type }) => type).filter((type) => type !== 'codehost');

test.each(types)(
  'a destination of %s stores its scope at the first contact, and writes to no other one until that is confirmed',
  async (type) => {
    const at = await synced(type);
    const id = await at.scopeId();
    await at.confirm('1');
    await at.set('two');
    expect((await at.untilRefused())!.last_error).toContain(`(ID ${id}, was 1)`);
    expect([await at.scopeId(), await at.external()]).toEqual(['1', json('one')]);
    await at.confirm(id);
    await eventuallyEqual(at.external, json('two'));
  },
);

test.each(['cloudA-sm', 'cloudB-kv', 'cloudC-sm'])(
  'a destination of %s removes nothing from another scope than its own until that is confirmed',
  async (type) => {
    const at = await synced(type);
    const id = await at.scopeId();
    await at.confirm('1');
    await at.remove();
    expect((await at.untilRefused())!.last_error).toContain(`(ID ${id}, was 1)`);
    expect(await at.external()).toBe(json('one'));
    await at.confirm(id);
    await eventuallyEqual(at.external, undefined);
  },
);
