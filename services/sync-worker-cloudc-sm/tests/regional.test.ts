import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { guardedTransport } from '../src/api/guarded-transport.ts';
import { strangerOf } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;
const location = 'europe-west3';
const parent = `projects/sandbox-project/locations/${location}`;
const key = (name = 'sandbox') => `projects/keys/locations/${location}/keyRings/sandbox/cryptoKeys/${name}`;
const regional = (locational_kms_keys = {}) => connect({ location, locational_kms_keys });

let stranger: ReturnType<typeof strangerOf>;
beforeAll(() => {
  stranger = strangerOf(driver.harness.sandbox, location);
});
afterAll(() => stranger.close());

const secretOf = async (id: string) => (await stranger.getSecret({ name: `${parent}/secrets/${id}` }))[0];
const keyOf = async (id: string) => (await secretOf(id)).customerManagedEncryption?.kmsKeyName ?? '';
const versionKeyOf = async (id: string, number: number) => {
  const name = `${parent}/secrets/${id}/versions/${number}`;
  const [version] = await stranger.getSecretVersion({ name });
  return version.customerManagedEncryption?.kmsKeyVersionName ?? '';
};

describe('regional secrets', () => {
  test('are created, updated and removed in their location', async () => {
    const store = await regional();
    const { name, next } = await putNew(store);
    expect((await secretOf(name)).replication).toBeNull();
    const { remote } = await put(next('two'), store);
    expect(remote).toMatchObject({ notice: null });
    expect(driver.harness.held(name)).toMatchObject({
      region: `sandbox-project/${location}`,
      value: 'two',
      tags: { 'managed-by': 'secrets-sync' },
    });
    await remove(name, remote, store);
    expect(driver.harness.held(name)).toBeUndefined();
  });

  test('are others than those of the project with the same name', async () => {
    const { name, request } = await putNew();
    await put(putRequest(name, 'regional'), await regional());
    const values = driver.harness.sandbox.cloudC.secrets().filter((secret) => secret.name === name);
    expect(values.map(({ value }) => value)).toEqual([request.value.reveal(), 'regional']);
  });

  test('follow a key that is set, changed and cleared', async () => {
    const { name, unchanged, remote } = await putNew(await regional());
    let state = remote;
    for (const [number, keys, shown] of [
      [2, { [location]: key() }, key()],
      [3, { [location]: key('sandbox-other') }, key('sandbox-other')],
      [4, {}, ''],
    ] as const) {
      state = (await put({ ...unchanged, remote: state }, await regional(keys))).remote;
      expect(await keyOf(name)).toBe(shown);
      expect(await versionKeyOf(name, number)).toMatch(new RegExp(`^${shown}`));
      expect(driver.harness.held(name)).toMatchObject({ value: 'one', version_count: number });
    }
  });

  test('get their key before their first value', async () => {
    const { name } = await putNew(await regional({ [location]: key() }));
    expect(await keyOf(name)).toBe(key());
    expect(await versionKeyOf(name, 1)).toBe(`${key()}/cryptoKeyVersions/1`);
  });
});

describe('the endpoint of the operator', () => {
  test.each(['secretmanager.googleapis.com', `secretmanager.${location}.rep.googleapis.com`])(
    'replaces %s, which X-Forwarded-Host names, and no other host',
    async (host) => {
      const sent: [string, string | null][] = [];
      const fetch = async (url: unknown, init?: RequestInit) => {
        const headers = new Headers(init?.headers);
        expect(headers.get('authorization')).toBe('Bearer t');
        sent.push([String(url), headers.get('x-forwarded-host')]);
        return new Response('{}', { status: 200 });
      };
      for (const name of [host, 'iam.googleapis.com'])
        for (const endpoint of [undefined, 'http://sandbox:8300/cloudc'])
          await guardedTransport(fetch as typeof globalThis.fetch, endpoint).request({
            url: `https://${name}/v1/x`,
            headers: { authorization: 'Bearer t' },
          });
      expect(sent).toEqual([
        [`https://${host}/v1/x`, null],
        ['http://sandbox:8300/cloudc/v1/x', host],
        ['https://iam.googleapis.com/v1/x', null],
        ['https://iam.googleapis.com/v1/x', null],
      ]);
    },
  );
});
