import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sandboxTypes, templateFor, withoutBudgets } from '../../harness/destination-types.ts';
import { eventuallyEqual } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { type Installation, startInstallation } from '../../harness/installation.ts';
import { isLongRun } from '../../harness/run-size.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';

let system: Installation;

beforeAll(async () => {
  Object.assign(process.env, withoutBudgets);
  system = await startInstallation();
});
afterAll(() => system?.stop());

/** A mount with a secret, and destinations of one type whose external secrets have the names that a test chooses. */
async function createPlace(type: string) {
  const { api, sandbox } = system;
  const tag = randomBytes(4).toString('hex');
  const mount = `kv-${tag}`;
  expectStatus(await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }), 204);
  const own = sandboxTypes.find((one) => one.type === type)!.fields(await sandbox.store(type));
  const named = (name: string) => ({
    granularity: 'secret-path',
    secret_name_template: templateFor(type, `x${tag}${name}`),
  });
  const write = async (value: string) =>
    expectStatus(await api('POST', `${mount}/data/s`, { data: { value } }), 200);
  const destination = async (name: string) => {
    const path = `sys/sync/destinations/${type}/${name}-${tag}`;
    expectStatus(await api('POST', path, { ...own, ...named(name) }), 200);
    const line = async () => Object.values(associatedSecrets(await api('GET', `${path}/associations`)))[0];
    return {
      path,
      rename: async (to: string) => expectStatus(await api('PATCH', path, named(to)), 200),
      set: async (fields: object = {}) =>
        expectStatus(
          await api('POST', `${path}/associations/set`, { mount, secret_name: 's', ...fields }),
          200,
        ),
      remove: async (fields: object) =>
        expectStatus(
          await api('POST', `${path}/associations/remove`, { mount, secret_name: 's', ...fields }),
          200,
        ),
      delete: async (query: string) => expectStatus(await api('DELETE', `${path}?${query}`), 204),
      untilStatus: (status: string | undefined) =>
        eventuallyEqual(async () => (await line())?.sync_status, status),
    };
  };
  await write('first');
  const external = async (name: string) => (await sandbox.find(type, `x${tag}${name}`))?.value;
  return { write, destination, external };
}

const json = (value: string) => JSON.stringify({ value });

/** One whose store shows the owner of a secret, and one whose store does not; every type in a long run. */
const types = isLongRun ? sandboxTypes.map(({ type }) => type) : ['cloudA-sm', 'codehost'];

describe.each(types)('a destination of %s', (type) => {
  /** Leaves an external secret behind that a deleted destination has written. */
  const leaveBehind = async (place: Awaited<ReturnType<typeof createPlace>>, name: string) => {
    const other = await place.destination(name);
    await other.set();
    await other.untilStatus('SYNCED');
    await other.delete('force_delete=true');
  };

  test('gives new values to an external secret whose new name somebody else has', async () => {
    const place = await createPlace(type);
    await leaveBehind(place, 'new');
    const one = await place.destination('old');
    await one.set();
    await one.untilStatus('SYNCED');
    await one.rename('new');
    await one.set();
    await one.untilStatus('CLIENT_SIDE_ERROR');
    for (const value of ['second', 'third']) {
      await place.write(value);
      await eventuallyEqual(() => place.external('old'), json(value));
    }
    expect(await place.external('new')).toBe(json('first'));
    await one.untilStatus('CLIENT_SIDE_ERROR');
  });

  test('takes over with overwrite what a deleted one has left behind', async () => {
    const place = await createPlace(type);
    await leaveBehind(place, 'left');
    await place.write('second');
    const one = await place.destination('left');
    await one.set();
    await one.untilStatus('CLIENT_SIDE_ERROR');
    expect(await place.external('left')).toBe(json('first'));
    await one.set({ overwrite: true });
    await one.untilStatus('SYNCED');
    expect(await place.external('left')).toBe(json('second'));
    await one.delete('purge=true');
    await eventuallyEqual(() => place.external('left'), undefined);
  });

  test('that removes an association, or is deleted, keeps external secrets on request, as foreign ones', async () => {
    const place = await createPlace(type);
    const one = await place.destination('kept');
    await one.set();
    await one.untilStatus('SYNCED');
    await one.remove({ keep: true });
    await one.untilStatus(undefined);
    expect(await place.external('kept')).toBe(json('first'));
    await place.write('second');
    await one.set();
    await one.untilStatus('CLIENT_SIDE_ERROR');
    expect(await place.external('kept')).toBe(json('first'));
    await one.set({ overwrite: true });
    await one.untilStatus('SYNCED');
    await one.delete('keep=true');
    await eventuallyEqual(async () => (await system.api('GET', one.path)).status, 404);
    expect(await place.external('kept')).toBe(json('second'));
    const other = await place.destination('kept');
    await other.set({ overwrite: true });
    await other.untilStatus('SYNCED');
    await other.delete('purge=true');
    await eventuallyEqual(() => place.external('kept'), undefined);
  });
});
