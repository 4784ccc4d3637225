import { beforeEach, describe, expect, test } from '@jest/globals';
import { expectStatus } from '../../harness/http.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { useInstallation } from '../use-installation.ts';

const system = useInstallation();
let at: SyncFixture;

beforeEach(async () => {
  await system.sandbox.clearFaults();
  at = await SyncFixture.create(system);
});

describe('set and remove', () => {
  test('set returns the association; the external secret holds the value as JSON', async () => {
    await at.write('app/db', { user: 'u', deep: { list: [1, null] } });
    const { body } = expectStatus(await at.setAndWait('app/db'), 200);
    expect(body).toMatchObject({
      lease_id: '',
      lease_duration: 0,
      renewable: false,
      wrap_info: null,
      warnings: null,
      auth: null,
    });
    expect(body.data).toMatchObject({ store_name: at.destination, store_type: 'cloudA-sm' });
    expect(body.data.associated_secrets).toEqual({
      [`${at.accessor}/app/db`]: expect.objectContaining({
        accessor: at.accessor,
        mount: at.mount,
        secret_name: 'app/db',
        sub_key: '',
        external_name: at.externalName('app/db'),
        sync_status: 'SYNCED',
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+00:00$/),
        last_error: null,
      }),
    });
    expect(JSON.parse((await at.value('app/db'))!)).toEqual({ user: 'u', deep: { list: [1, null] } });
  });

  test('remove returns UNSYNCED, also if the association or the external secret does not exist', async () => {
    await at.sync('a', { k: 'v' });
    const { body } = expectStatus(await at.removeAndWait('a'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`].sync_status).toBe('UNSYNCED');
    expect(await at.value('a')).toBeUndefined();
    expect(await at.associations()).toEqual({});
    const again = expectStatus(await at.removeAndWait('a'), 200);
    expect(again.body.data.associated_secrets[`${at.mount}/a`].sync_status).toBe('UNSYNCED');
  });

  test('a refusal of sync-control reaches the client', async () => {
    const { status, body } = await at.set('nothing');
    expect([status, body.errors]).toEqual([400, [expect.stringMatching(/no secret nothing/)]]);
  });

  test('wait=0 returns PENDING at once, and the sync follows', async () => {
    await at.write('a', { k: 'v' });
    await system.sandbox.fault({ effect: 'slow', ms: 2_000 }); // less than set waits by default
    const { body } = expectStatus(await at.set('a', {}, '?wait=0'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`].sync_status).toBe('PENDING');
    await at.untilStatus('a', 'SYNCED');
  });
});

describe('the associations of a secret', () => {
  test('are read by path, and by query for names with slashes; 404 if there are none', async () => {
    await at.sync('deep/name', { v: 1 });
    const expected = {
      [`cloudA-sm/${at.destination}`]: {
        type: 'cloudA-sm',
        name: at.destination,
        sync_status: 'SYNCED',
        held_by_hand: true,
        held_by_rules: [],
        updated_at: expect.any(String),
      },
    };
    const byPath = expectStatus(await system.api('GET', `sys/sync/associations/${at.mount}/deep/name`), 200);
    const byQuery = expectStatus(
      await system.api('GET', `sys/sync/associations/destinations?mount=${at.mount}&secret_name=deep/name`),
      200,
    );
    expect([byPath.body.data.associated_destinations, byQuery.body.data.associated_destinations]).toEqual([
      expected,
      expected,
    ]);
    expectStatus(await system.api('GET', `sys/sync/associations/${at.mount}/none`), 404);
  });

  test('are listed with mount and secret', async () => {
    await at.sync('listed', { v: 1 });
    const { body } = expectStatus(await system.api('LIST', 'sys/sync/associations'), 200);
    expect(body.data.key_info[`${at.mount}/listed`]).toEqual([
      { mount: `${at.mount}/`, secret_path: 'listed' },
    ]);
    expect(body.data.total_associations).toBeGreaterThanOrEqual(body.data.total_secrets);
  });

  test('are paged; a page starts after the last entry of the one before', async () => {
    for (const name of ['p1', 'p2', 'p3']) await at.sync(name, { v: 1 });
    const page = `sys/sync/associations?limit=2&after_mount=${at.mount}`;
    const first = expectStatus(await system.api('LIST', page), 200).body;
    expect(first.warnings).toEqual([expect.stringContaining('after_secret=p2')]);
    const [{ mount, secret_path: last }] = first.data.key_info[first.data.keys.at(-1)];
    const next = expectStatus(
      await system.api('LIST', `sys/sync/associations?after_mount=${mount}&after_secret=${last}`),
      200,
    ).body;
    expect([first.data.keys, next.data.keys.slice(0, 1)]).toEqual([
      [`${at.mount}/p1`, `${at.mount}/p2`],
      [`${at.mount}/p3`],
    ]);
  });
});

describe('permissions', () => {
  test('set requires that the caller may read the secret', async () => {
    await at.write('mine', { v: 1 });
    await at.write('other', { v: 1 });
    const policy = `path "${at.mount}/data/mine" { capabilities = ["read"] }
      path "sys/sync/*" { capabilities = ["create", "update", "read"] }`;
    expectStatus(await system.api('PUT', `sys/policies/acl/${at.mount}`, { policy }), 204);
    const { body } = expectStatus(
      await system.api('POST', 'auth/token/create', { policies: [at.mount] }),
      200,
    );
    const api = system.as(body.auth.client_token);
    expectStatus(
      await api('POST', `${at.path}/associations/set`, { mount: at.mount, secret_name: 'mine' }),
      200,
    );
    const refused = expectStatus(
      await api('POST', `${at.path}/associations/set`, { mount: at.mount, secret_name: 'other' }),
      403,
    );
    expect(refused.body.errors[0]).toMatch(new RegExp(`other.*${at.mount}`));
    expectStatus(await system.as(undefined)('GET', at.path), 403);
  });
});
