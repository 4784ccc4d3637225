import { beforeEach, describe, expect, test } from '@jest/globals';
import { useSecrets } from '../secrets-for-test.ts';

const secrets = useSecrets();
const path = '/internal/imports/clouda-sm';
const worker = 'sync-worker-clouda-sm';

let name: string;
let count = 0;
beforeEach(() => {
  count += 1;
  name = `s${count}`;
});

const grantOf = (more: object = {}) =>
  JSON.stringify({
    namespace_id: 'root',
    mount: 'kv',
    path: name,
    cas: 0,
    key: null,
    origin: 'cloudA-sm/d/name',
    ...more,
  });

/** Imports a text as the worker does, with what sync-control has signed. */
const bring = (text: string, more: object = {}) => {
  const grant = grantOf(more);
  return secrets.callInternal(path, { grant, permit: secrets.permit(grant), text }, worker);
};
const read = async () => (await secrets.call('GET', `/kv/data/${name}`)).body?.data;
const write = (data: object) => secrets.call('POST', `/kv/data/${name}`, { data });

describe('POST internal/imports/:type', () => {
  test('writes the value that a worker has read, with its origin', async () => {
    expect((await bring('{"a":1.10,"__proto__":"x"}')).body.data).toEqual({ version: 1 });
    const { data, metadata } = await read();
    expect(JSON.stringify(data)).toBe('{"a":1.10,"__proto__":"x"}');
    expect(metadata.custom_metadata).toEqual({ imported_from: 'cloudA-sm/d/name' });
  });

  test('writes the text of one key, and keeps the others and the custom metadata', async () => {
    await write({ more: 'x', value: 'old' });
    await secrets.call('POST', `/kv/metadata/${name}`, { custom_metadata: { team: 'a' } });
    expect((await bring('{"not":"parsed"}', { cas: 1, key: 'value' })).status).toBe(200);
    expect(await read()).toMatchObject({
      data: { more: 'x', value: '{"not":"parsed"}' },
      metadata: { version: 2, custom_metadata: { team: 'a', imported_from: 'cloudA-sm/d/name' } },
    });
  });

  test('writes the next version after one that was deleted', async () => {
    await write({ more: 'x' });
    await secrets.call('DELETE', `/kv/data/${name}`);
    expect((await bring('v', { cas: 1, key: 'value' })).status).toBe(200);
    expect(await read()).toMatchObject({ data: { value: 'v' }, metadata: { version: 2 } });
  });

  test('cuts a long origin between characters', async () => {
    await bring('{}', { origin: 'ü'.repeat(300) });
    expect((await read()).metadata.custom_metadata.imported_from).toBe('ü'.repeat(256));
  });

  test('writes nothing twice, nor over a version that was written since', async () => {
    await bring('{"a":1}');
    for (const more of [{}, { key: 'value' }, { cas: 2, key: 'value' }, { cas: 2 }])
      expect((await bring('{"a":2}', more)).body.errors).toEqual([
        'the secret was written during the import',
      ]);
    expect(await read()).toMatchObject({ data: { a: 1 }, metadata: { version: 1 } });
  });

  test.each([
    ['[1]', {}, 400, 'it is not a JSON object'],
    ['canary', {}, 400, 'it is not a JSON object'],
    [
      `{"a":${'['.repeat(120)}${']'.repeat(120)}}`,
      {},
      400,
      'it has more values or levels than a secret may have',
    ],
    ['{}', { mount: 'nowhere' }, 409, 'the mount of the import no longer exists'],
  ])('refuses %j %j, without a part of the value', async (text, more, status, error) => {
    const response = await bring(text, more);
    expect([response.status, response.body.errors]).toEqual([status, [error]]);
    expect(await secrets.call('GET', `/kv/metadata/${name}`)).toMatchObject({ status: 404 });
  });

  test('refuses a secret whose custom metadata has no room for the origin', async () => {
    await write({ a: 1 });
    const keys = Array.from({ length: 64 }, (_, index) => [`k${index}`, 'x']);
    await secrets.call('POST', `/kv/metadata/${name}`, { custom_metadata: Object.fromEntries(keys) });
    const response = await bring('{"a":2}', { cas: 1 });
    expect([response.status, response.body.errors[0]]).toEqual([
      400,
      expect.stringContaining('64 keys of custom_metadata'),
    ]);
    expect((await read()).data).toEqual({ a: 1 });
  });

  test('refuses what sync-control has not signed, and other services', async () => {
    const grant = grantOf();
    const permit = secrets.permit(grant);
    const text = '{"a":1}';
    const others = [
      { grant: grantOf({ path: 'other' }), permit, text },
      { grant, permit: `${permit.slice(0, -2)}${permit.endsWith('AA') ? 'BB' : 'AA'}`, text },
      { grant, permit: '', text },
    ];
    for (const body of others)
      expect(await secrets.callInternal(path, body, worker)).toMatchObject({ status: 403 });
    for (const from of ['sync-control', 'gateway', 'sync-worker-cloudb-kv'])
      expect(await secrets.callInternal(path, { grant, permit, text }, from)).toMatchObject({ status: 403 });
    expect(await read()).toBeUndefined();
  });

  test('a permit is no assertion of a request', async () => {
    const response = await fetch(`${secrets.url}/v1/internal/secrets/revisions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-caller-assertion': secrets.permit('{"secret_ids":[]}'),
      },
      body: '{"secret_ids":[]}',
    });
    expect(response.status).toBe(403);
  });
});
