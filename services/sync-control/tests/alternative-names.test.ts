import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import { destinationType } from '@secrets/domain';
import { useSyncControl } from './sync-control-for-test.ts';

const sync = useSyncControl();

const destinations = '/sys/sync/destinations';
const fields = { access_key_id: 'a', secret_access_key: 'b', region: 'eu-central-1' };

test('each other name is that of one destination type', () => {
  const types = ['aws-sm', 'azure-kv', 'gcp-sm', 'gh', 'vercel-project'].map(destinationType);
  expect(Object.keys(destinationTypes)).toEqual(expect.arrayContaining(types));
  expect(new Set(types).size).toBe(types.length);
});

test('a destination is the same under both names of its type, and is shown with the name of the request', async () => {
  const name = `d-${randomUUID()}`;
  const [other, own] = [`${destinations}/aws-sm/${name}`, `${destinations}/cloudA-sm/${name}`];
  const created = await sync.call('POST', other, { ...fields, type: 'cloudA-sm' });
  expect([created.status, created.body.data.type]).toEqual([200, 'aws-sm']);
  expect((await sync.call('POST', own, { type: 'aws-sm' })).body.data.type).toBe('cloudA-sm');
  expect((await sync.call('PATCH', other, {})).body.data.type).toBe('aws-sm');
  for (const [path, type] of [
    [other, 'aws-sm'],
    [own, 'cloudA-sm'],
  ] as const) {
    expect((await sync.call('GET', path)).body.data.type).toBe(type);
    expect((await sync.call('POST', `${path}/retry`)).body.data.type).toBe(type);
    expect((await sync.call('POST', `${path}/replan`)).body.data.type).toBe(type);
    expect((await sync.call('LIST', `${destinations}/${type}`)).body.data.keys).toContain(name);
  }
  const all = (await sync.call('LIST', destinations)).body.data;
  expect(all.keys).toEqual(['cloudA-sm/']);
  expect(all.key_info['cloudA-sm/']).toContain(name);
  expect((await sync.call('POST', other, { type: 'gh' })).body.errors).toEqual([
    'type: is part of the path and cannot be changed',
  ]);
  expect((await sync.call('DELETE', other)).status).toBe(204);
  expect((await sync.call('GET', own)).status).toBe(404);
});

test('associations are shown with the name of the request', async () => {
  const at = await sync.fixture();
  await at.write('s', { k: 'v' });
  const body = { mount: at.mount, secret_name: 's' };
  const path = `${destinations}/aws-sm/${at.name}/associations`;
  const secret = `mount=${at.mount}&secret_name=s`;
  expect((await sync.call('POST', `${path}/plan`, body)).body.data.store_type).toBe('aws-sm');
  expect((await sync.call('POST', `${path}/set?wait=0`, body)).body.data.store_type).toBe('aws-sm');
  expect((await sync.call('GET', path)).body.data.store_type).toBe('aws-sm');
  expect((await sync.call('GET', `${path}/history?${secret}`)).body.data.store_type).toBe('aws-sm');
  expect(Object.keys(await at.lines())).toHaveLength(1);
  const { data } = (await sync.call('GET', `/sys/sync/associations/${at.mount}/s`)).body;
  expect(Object.keys(data.associated_destinations)).toEqual([`cloudA-sm/${at.name}`]);
  expect((await sync.call('POST', `${path}/remove?wait=0`, body)).body.data.store_type).toBe('aws-sm');
});

test('sys/sync/github-apps holds the applications of sys/sync/codehost-apps', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const app = { app_id: 1, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
  const [other, own] = ['/sys/sync/github-apps', '/sys/sync/codehost-apps'];
  const { status, body } = await sync.call('POST', `${other}/app`, app);
  expect(status).toBe(200);
  for (const path of [other, own]) {
    expect((await sync.call('GET', `${path}/app`)).body.data).toEqual(body.data);
    expect((await sync.call('LIST', path)).body.data.keys).toEqual(['app']);
  }
  expect((await sync.call('DELETE', `${other}/app`)).status).toBe(204);
  expect((await sync.call('GET', `${own}/app`)).status).toBe(404);
});
