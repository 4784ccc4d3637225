import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sandboxTypes } from '../../harness/destination-types.ts';
import { eventuallyEqual } from '../../harness/eventually.ts';
import { expectStatus, send } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { isLongRun } from '../../harness/run-size.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';

let system: Installation;

beforeAll(async () => {
  system = await startInstallation();
  expectStatus(await system.api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } }), 204);
});
afterAll(() => system?.stop());

const names = ['a', 'b'];

/** A destination of a type to which all secrets are synced. */
async function syncedDestination(type: string) {
  const { api, sandbox } = system;
  const path = `sys/sync/destinations/${type}/main`;
  const { fields } = sandboxTypes.find((one) => one.type === type)!;
  expectStatus(await api('POST', path, fields(await sandbox.store(type))), 200);
  for (const secret_name of names) {
    expectStatus(await api('POST', `kv/data/${secret_name}`, { data: { k: secret_name } }), 200);
    expectStatus(await api('POST', `${path}/associations/set`, { mount: 'kv', secret_name }), 200);
  }
  const lines = async () => Object.values(associatedSecrets(await api('GET', `${path}/associations`)));
  const statuses = async () => [...new Set((await lines()).map(({ sync_status }) => sync_status))];
  await eventuallyEqual(statuses, ['SYNCED']);
  return {
    statuses,
    retry: async (body?: object) => expectStatus(await api('POST', `${path}/retry`, body), 200),
    outside: async () => {
      const found = (await lines()).map(({ external_name }) => sandbox.find(type, external_name));
      return (await Promise.all(found)).map((secret) => secret?.value).sort();
    },
  };
}

/** One whose store shows values, and one whose store does not; every type in a long run. */
const types = isLongRun ? sandboxTypes.map(({ type }) => type) : ['cloudA-sm', 'codehost'];

test.each(types)(
  'what is gone from the store is written again by a retry of all, not by one of what has failed: %s',
  async (type) => {
    const at = await syncedDestination(type);
    const before = await at.outside();
    expect(before).not.toContain(undefined);
    expectStatus(await send(`${system.sandboxUrl}/_sandbox/reset?store=${type}`, 'POST'), 204);
    await at.retry();
    expect(await at.outside()).toEqual([undefined, undefined]);
    expect(await at.statuses()).toEqual(['SYNCED']);
    await at.retry({ all: true });
    await eventuallyEqual(at.outside, before);
    await eventuallyEqual(at.statuses, ['SYNCED']);
  },
);
