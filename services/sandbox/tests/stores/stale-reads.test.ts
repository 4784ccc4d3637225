import {
  CreateSecretCommand,
  DeleteSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  ListSecretsCommand,
  PutSecretValueCommand,
} from '@aws-sdk/client-secrets-manager';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { cloudAClient } from './clouda/clouda-harness.ts';
import { cloudBClient } from './cloudb/cloudb-harness.ts';
import { cloudCClient, errorWith } from './cloudc/cloudc-harness.ts';
import { type CodehostHarness, startCodehost, web } from './codehost/codehost-harness.ts';
import { variable, webhostSdk } from './webhost/webhost-harness.ts';

const minute = 60_000;
const startMs = Date.now();
let passedMs = 0;
const pass = (ms: number) => {
  passedMs += ms;
};

let codehost: CodehostHarness;
const sandbox = () => codehost.sandbox;
beforeAll(async () => {
  codehost = await startCodehost({}, { clock: () => startMs + passedMs });
});
afterEach(() => sandbox().reset());
afterAll(() => codehost.stop());

const shown = <Value>(call: Promise<Value>): Promise<Value | undefined> => call.catch(() => undefined);

test('cloudA-sm: reads and lists show an earlier state, and writes act on the current one', async () => {
  const client = cloudAClient(sandbox());
  const describe = () => shown(client.send(new DescribeSecretCommand({ SecretId: 'a' })));
  const value = async () =>
    (await shown(client.send(new GetSecretValueCommand({ SecretId: 'a' }))))?.SecretString;
  const listed = async () => (await client.send(new ListSecretsCommand({}))).SecretList?.length;
  sandbox().cloudA.faults.add({ effect: 'stale-read', ms: minute });
  await client.send(new CreateSecretCommand({ Name: 'a', SecretString: 'one' }));
  expect([await describe(), await value(), await listed()]).toEqual([undefined, undefined, 0]);
  pass(minute);
  await client.send(new PutSecretValueCommand({ SecretId: 'a', SecretString: 'two' }));
  expect([await value(), await listed()]).toEqual(['one', 1]);
  pass(minute);
  await client.send(new DeleteSecretCommand({ SecretId: 'a' }));
  expect((await describe())?.DeletedDate).toBeUndefined();
  expect([await value(), await listed()]).toEqual(['two', 1]);
  pass(minute);
  expect((await describe())?.DeletedDate).toBeInstanceOf(Date);
  client.destroy();
});

test('cloudB-kv: reads and lists show an earlier state, and writes act on the current one', async () => {
  const client = cloudBClient(sandbox());
  const value = async () => (await shown(client.getSecret('a')))?.value;
  const listed = async () => {
    let count = 0;
    for await (const _ of client.listPropertiesOfSecrets()) count += 1;
    return count;
  };
  sandbox().cloudB.faults.add({ effect: 'stale-read', ms: minute });
  await client.setSecret('a', 'one');
  expect([await value(), await listed()]).toEqual([undefined, 0]);
  pass(minute);
  const { properties } = await client.setSecret('a', 'two');
  expect([await value(), await listed()]).toEqual(['one', 1]);
  expect(await shown(client.getSecret('a', { version: properties.version! }))).toBeUndefined();
  const updated = await client.updateSecretProperties('a', '', { tags: { of: 'the newest version' } });
  expect(updated.version).toBe(properties.version);
  pass(minute);
  await shown(client.beginDeleteSecret('a'));
  expect(await value()).toBe('two');
  expect(await shown(client.getDeletedSecret('a'))).toBeUndefined();
  pass(minute + 300); // the deletion takes a while
  expect(await value()).toBeUndefined();
  expect(await shown(client.getDeletedSecret('a'))).toBeDefined();
});

test('cloudC-sm: reads and lists show an earlier state, except the access to a version by its number', async () => {
  const client = cloudCClient(sandbox());
  const name = 'projects/sandbox-project/secrets/a';
  const access = async (version: string) =>
    String(
      (await shown(client.accessSecretVersion({ name: `${name}/versions/${version}` })))?.[0].payload?.data,
    );
  const versions = async () => (await shown(client.listSecretVersions({ parent: name })))?.[0].length;
  const add = (text: string) =>
    client.addSecretVersion({ parent: name, payload: { data: Buffer.from(text) } });
  sandbox().cloudC.faults.add({ effect: 'stale-read', ms: minute });
  await client.createSecret({
    parent: 'projects/sandbox-project',
    secretId: 'a',
    secret: { replication: { automatic: {} } },
  });
  await add('one');
  await expect(client.getSecret({ name })).rejects.toEqual(errorWith('NOT_FOUND'));
  expect([await access('latest'), await access('1')]).toEqual(['undefined', 'one']);
  pass(minute);
  await add('two');
  expect([await access('latest'), await access('2'), await versions()]).toEqual(['one', 'two', 1]);
  await client.deleteSecret({ name });
  expect([await access('latest'), await access('2')]).toEqual(['one', 'undefined']);
  pass(minute);
  expect(await access('latest')).toBe('undefined');
  await client.close();
});

test('codehost: reads and lists show an earlier state, and writes act on the current one', async () => {
  const { octokit, write } = codehost;
  const secret = { ...web, secret_name: 'A' };
  const read = async () => (await shown(octokit.rest.actions.getRepoSecret(secret)))?.data.updated_at;
  const listed = async () => (await octokit.rest.actions.listRepoSecrets(web)).data.total_count;
  sandbox().codehost.faults.add({ effect: 'stale-read', ms: minute });
  expect(await write('A', 'one')).toBe(201);
  expect([await read(), await listed()]).toEqual([undefined, 0]);
  pass(minute);
  const created = await read();
  expect(await write('A', 'two')).toBe(204);
  expect([await read(), await listed()]).toEqual([created, 1]);
  await octokit.rest.actions.deleteRepoSecret(secret);
  expect([await read(), await listed()]).toEqual([created, 1]);
  pass(minute);
  expect([await read(), await listed()]).toEqual([undefined, 0]);
});

test('webhost-project: reads and lists show an earlier state, and writes act on the current one', async () => {
  const sdk = webhostSdk(sandbox());
  const listed = async () => (await sdk.list()).envs.map(({ updatedAt }) => updatedAt);
  sandbox().webhost.faults.add({ effect: 'stale-read', ms: minute });
  const { created } = await sdk.create(variable('A'));
  expect([await listed(), await shown(sdk.get(created.id))]).toEqual([[], undefined]);
  pass(minute);
  const edited = await sdk.edit(created.id, { value: 'two' });
  expect(edited.updatedAt).toBeGreaterThan(created.updatedAt);
  expect([await listed(), (await sdk.get(created.id)).value]).toEqual([[created.updatedAt], 'one']);
  await sdk.remove(created.id);
  expect([await listed(), (await sdk.get(created.id)).value]).toEqual([[created.updatedAt], 'one']);
  pass(minute);
  expect(await listed()).toEqual([]);
});
