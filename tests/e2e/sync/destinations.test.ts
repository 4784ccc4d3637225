import { beforeEach, describe, expect, test } from '@jest/globals';
import { eventually, eventuallyEqual, quietFor } from '../../harness/eventually.ts';
import { expectStatus } from '../../harness/http.ts';
import { SyncFixture } from '../../harness/sync-fixture.ts';
import { useInstallation } from '../use-installation.ts';

const system = useInstallation();
let at: SyncFixture;

beforeEach(async () => {
  await system.sandbox.clearFaults();
  await system.api('DELETE', 'sys/sync/config');
  at = await SyncFixture.create(system);
});

describe('destinations', () => {
  test('mask their secrets; an update keeps omitted fields, and ignores the mask', async () => {
    const read = async () => (await system.api('GET', at.path)).body.data;
    const first = await read();
    expect(first).toMatchObject({
      type: 'cloudA-sm',
      name: at.destination,
      connection_details: { region: 'eu-west-1', secret_access_key: '*****' },
    });
    expect(first.options).toMatchObject({ granularity_level: 'secret-path', custom_tags: {} });
    expectStatus(
      await system.api('POST', at.path, { secret_access_key: '*****', custom_tags: { team: 'shop' } }),
      200,
    );
    expect((await read()).options.custom_tags).toEqual({ team: 'shop' });
    await at.sync('a', { v: 1 });
    expect((await system.sandbox.secrets())[at.externalName('a')]!.tags).toMatchObject({ team: 'shop' });
  });

  test('refuse to change an immutable field with 400', async () => {
    const { body } = expectStatus(await system.api('PATCH', at.path, { region: 'us-east-1' }), 400);
    expect(body.errors[0]).toMatch(/^region/);
  });

  test('are deleted with 204 when empty or absent, and refused with 400 if associated; purge unsyncs first', async () => {
    await at.sync('a', { v: 1 });
    const refused = expectStatus(await system.api('DELETE', at.path), 400);
    expect(refused.body.errors[0]).toContain('1 association');
    expectStatus(await system.api('DELETE', `${at.path}?purge=true`), 204);
    await eventuallyEqual(async () => (await system.api('GET', at.path)).status, 404);
    expect(await at.value('a')).toBeUndefined();
    expectStatus(await system.api('DELETE', at.path), 204);
  });

  test('keep working after a failed purge, which states its reason and can be repeated', async () => {
    await at.sync('a', { v: 1 });
    await system.sandbox.fault({ effect: 'error', code: 'AccessDeniedException', status: 400 });
    expectStatus(await system.api('DELETE', `${at.path}?purge=true`), 204);
    const read = () => system.api('GET', at.path);
    const failed = await eventually(read, ({ body }) => Boolean(body.data?.purge_error));
    expect(failed.body.data.purge_error).toMatch(/AccessDenied/);
    await system.sandbox.clearFaults();
    await at.sync('b', { v: 2 });
    expect((await read()).body.data.purge_initiated_at).toBeUndefined();
    await quietFor(1_500); // more than the interval between two steps of a purge
    expect(await at.value('b')).toBe('{"v":2}');
    expectStatus(await system.api('DELETE', `${at.path}?purge=true`), 204);
    await eventuallyEqual(async () => (await read()).status, 404);
    expect([await at.value('a'), await at.value('b')]).toEqual([undefined, undefined]);
  });

  test('are deleted by force_delete without any call to the store', async () => {
    await at.sync('a', { v: 1 });
    const calls = async () =>
      (await system.sandbox.calls()).filter(({ name }) => name === at.externalName('a')).length;
    const before = await calls();
    expectStatus(await system.api('DELETE', `${at.path}?force_delete=true`), 204);
    expectStatus(await system.api('GET', at.path), 404);
    await quietFor(500);
    expect(await calls()).toBe(before);
    expect(await at.value('a')).toBe('{"v":1}');
  });

  test('are listed by type and of one type', async () => {
    const all = expectStatus(await system.api('LIST', 'sys/sync/destinations'), 200).body.data;
    expect(all.keys).toEqual(['cloudA-sm/']);
    expect(all.key_info['cloudA-sm/']).toContain(at.destination);
    expect(all.total_destinations).toBe(all.key_info['cloudA-sm/'].length);
    const some = expectStatus(await system.api('GET', 'sys/sync/destinations/cloudA-sm?list=true'), 200).body
      .data;
    expect(some.keys).toContain(at.destination);
  });
});

describe('sys/sync/config', () => {
  test('disabled, also as a string: set returns PENDING and nothing is synced until it is enabled', async () => {
    const { body } = expectStatus(await system.api('PATCH', 'sys/sync/config', { disabled: 'true' }), 200);
    expect(body.data).toEqual({ disabled: true, queue_capacity: 1_000_000 });
    expect(body.mount_type).toBe('system');
    await at.write('a', { v: 1 });
    const pending = expectStatus(await at.set('a'), 200);
    expect(pending.body.data.associated_secrets[`${at.accessor}/a`].sync_status).toBe('PENDING');
    await quietFor(700);
    expect(await at.value('a')).toBeUndefined();
    await system.api('PATCH', 'sys/sync/config', { disabled: false });
    await at.untilStatus('a', 'SYNCED');
  });

  test('queue_capacity bounds set, with 429, and never writes', async () => {
    await system.api('PATCH', 'sys/sync/config', { disabled: true, queue_capacity: '2' });
    for (const name of ['a', 'b', 'c']) await at.write(name, { v: 1 });
    expectStatus(await at.set('a'), 200);
    expectStatus(await at.set('b'), 200);
    const full = expectStatus(await at.set('c'), 429);
    expect(full.body.errors[0]).toMatch(/queue_capacity is 2/);
    expectStatus(await at.write('a', { v: 2 }), 200);
    await system.api('DELETE', 'sys/sync/config');
    await at.untilStatus('b', 'SYNCED');
    await at.untilValue('a', '{"v":2}');
    expectStatus(await at.set('c'), 200);
  });

  test.each([{ disabled: 'maybe' }, { queue_capacity: 0 }, { queue_capacity: 'x' }])(
    'refuses %j with 400 that names the field',
    async (given) => {
      const { body } = expectStatus(await system.api('PATCH', 'sys/sync/config', given), 400);
      expect(body.errors[0]).toContain(Object.keys(given)[0]);
    },
  );
});
