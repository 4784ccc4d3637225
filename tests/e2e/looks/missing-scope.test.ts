import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { sandboxTypes, templateFor, withoutBudgets } from '../../harness/destination-types.ts';
import { eventually } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { openDatabase } from '../../harness/standalone.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';

let system: Installation;

beforeAll(async () => {
  Object.assign(process.env, withoutBudgets);
  system = await startInstallation();
});
afterEach(() => system.sandbox.clearFaults());
afterAll(() => system?.stop());

/** Codes with which the stores say that a region, a vault, a project or a repository does not exist. */
const codes: Readonly<Record<string, string>> = {
  'cloudA-sm': 'UnknownOperationException',
  'cloudB-kv': 'VaultNotFound',
  'cloudC-sm': 'NOT_FOUND',
  codehost: 'NotFound',
  'webhost-project': 'not_found',
};

/** Lets more time pass since the last pushes than a store may need to show them. */
async function timePasses(): Promise<void> {
  const db = openDatabase(system);
  await db.query(`update sync.entries set synced_at = synced_at - interval '10 minutes'`);
  await db.close();
}

/** A destination that repairs what has drifted, with a secret that was pushed some time ago. */
async function createSynced(type: string) {
  const { api, sandbox } = system;
  const tag = randomBytes(4).toString('hex');
  const mount = `kv-${tag}`;
  const path = `sys/sync/destinations/${type}/d-${tag}`;
  const fields = sandboxTypes.find((one) => one.type === type)!.fields(await sandbox.store(type));
  const secret_name_template = templateFor(type, `x${tag}{{ .SecretPath }}`);
  const settings = { granularity: 'secret-path', secret_name_template, drift_policy: 'repair' };
  expectStatus(await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }), 204);
  expectStatus(await api('POST', path, { ...fields, ...settings }), 200);
  expectStatus(await api('POST', `${mount}/data/s`, { data: { value: 'ours' } }), 200);
  const secret = { mount, secret_name: 's' };
  expectStatus(await api('POST', `${path}/associations/set`, secret), 200);
  const line = async () => Object.values(associatedSecrets(await api('GET', `${path}/associations`)))[0]!;
  const { external_name: name } = await eventually(line, (one) => one.sync_status === 'SYNCED');
  await timePasses();
  return { path, secret, name, line };
}

test.each(sandboxTypes.map(({ type }) => type))(
  'a look that does not find the whole scope changes nothing of an association, and nothing outside (%s)',
  async (type) => {
    const { api, sandbox } = system;
    const { path, secret, name, line } = await createSynced(type);
    const inspect = async () => expectStatus(await api('POST', `${path}/inspect`, secret), 200);
    await inspect();
    const [before, outside] = [await line(), await sandbox.find(type, name)];
    const earlier = (await sandbox.calls(type)).length;
    await sandbox.fault({ store: type, effect: 'error', status: 404, code: codes[type] });
    expect((await inspect()).body.warnings).toEqual([expect.any(String)]);
    expectStatus(await api('POST', `${path}/inspect`), 200);
    await eventually(
      async () => (await api('GET', path)).body.data.inspect_initiated_at,
      (since) => since === undefined,
    );
    await system.sandbox.clearFaults();
    expect(await line()).toEqual(before);
    expect(before).toMatchObject({ sync_status: 'SYNCED', drift: 'none' });
    expect(await sandbox.find(type, name)).toEqual(outside);
    const { puts } = sandboxTypes.find((one) => one.type === type)!;
    const made = (await sandbox.calls(type)).slice(earlier).map(({ operation }) => operation);
    expect(made).not.toEqual([]);
    expect(made.filter((operation) => puts.includes(operation))).toEqual([]);
  },
);
