import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../scripts/demo/http.ts';
import {
  eventually,
  expectStatus,
  type Fixture,
  fixture,
  type Installation,
  startInstallation,
} from './installation.ts';

let system: Installation;
let at: Fixture;

beforeAll(async () => {
  system = await startInstallation();
});
afterAll(() => system?.stop());
beforeEach(async () => {
  await system.clearFaults();
  await system.api('DELETE', 'sys/sync/config');
  at = await fixture(system);
});

const write = (name: string, data: object) => system.api('POST', `${at.mount}/data/${name}`, { data });
const set = (name: string, more: object = {}, query = '') =>
  system.api('POST', `${at.path}/associations/set${query}`, { mount: at.mount, secret_name: name, ...more });
/** Asks again where a slow machine needs longer than an answer waits. */
const untilOver = (ask: () => Promise<Answer>) =>
  eventually(ask, ({ body }) =>
    Object.values<{ sync_status: string }>(body?.data?.associated_secrets ?? {}).every(
      ({ sync_status: status }) => status !== 'PENDING',
    ),
  );
const setAndWait = (name: string) => untilOver(() => set(name));
const removeAndWait = (name: string) => untilOver(() => remove(name));
const remove = (name: string) =>
  system.api('POST', `${at.path}/associations/remove`, { mount: at.mount, secret_name: name });
const lines = async () => (await system.api('GET', `${at.path}/associations`)).body.data.associated_secrets;
const line = async (name: string) => (await lines())[`${at.accessor}/${name}`];
const external = (name: string) => `secrets/${at.accessor}/${name}`;
const value = async (name: string) => (await system.outside())[external(name)]?.value;
const statusIs = (name: string, status: string) =>
  eventually(
    () => line(name),
    (one) => one?.sync_status === status,
  ).then((one) => expect(one?.sync_status).toBe(status));

async function synced(name: string, data: object): Promise<void> {
  expectStatus(await write(name, data), 200);
  const { body } = expectStatus(await setAndWait(name), 200);
  expect(body.data.associated_secrets[`${at.accessor}/${name}`].sync_status).toBe('SYNCED');
}

describe('set and remove', () => {
  test('set returns the association, and the external secret holds the value as JSON', async () => {
    await write('app/db', { user: 'u', deep: { list: [1, null] } });
    const { body } = expectStatus(await setAndWait('app/db'), 200);
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
        external_name: external('app/db'),
        sync_status: 'SYNCED',
        updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+00:00$/),
        last_error: null,
      }),
    });
    expect(JSON.parse((await value('app/db'))!)).toEqual({ user: 'u', deep: { list: [1, null] } });
  });

  test('remove answers UNSYNCED, also for what is not there or already gone outside', async () => {
    await synced('a', { k: 'v' });
    const { body } = expectStatus(await removeAndWait('a'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`].sync_status).toBe('UNSYNCED');
    expect(await value('a')).toBeUndefined();
    expect(await lines()).toEqual({});
    const again = expectStatus(await removeAndWait('a'), 200);
    expect(again.body.data.associated_secrets[`${at.accessor}/a`].sync_status).toBe('UNSYNCED');
  });

  test.each([
    ['a secret that does not exist', () => set('nothing'), 400, /no secret nothing/],
    ['a folder', () => write('folder/x', { a: 1 }).then(() => set('folder')), 400, /folder/],
    [
      'a deleted secret',
      async () => {
        await write('gone', { a: 1 });
        await system.api('DELETE', `${at.mount}/data/gone`);
        return set('gone');
      },
      400,
      /deleted/,
    ],
    [
      'a mount that does not exist',
      () => system.api('POST', `${at.path}/associations/set`, { mount: 'none', secret_name: 'a' }),
      400,
      /mount/,
    ],
    [
      'no secret name',
      () => system.api('POST', `${at.path}/associations/set`, { mount: at.mount }),
      400,
      /secret_name is required/,
    ],
    [
      'a destination that does not exist',
      () =>
        system.api('POST', 'sys/sync/destinations/cloudA-sm/none/associations/set', {
          mount: at.mount,
          secret_name: 'a',
        }),
      404,
      /^$/,
    ],
    [
      'an unknown type',
      () =>
        system.api('POST', 'sys/sync/destinations/cloudX/none/associations/set', {
          mount: at.mount,
          secret_name: 'a',
        }),
      404,
      /^$/,
    ],
  ])('set of %s is refused', async (_what, act, status, sentence) => {
    const answer = await act();
    expect(answer.status).toBe(status);
    expect(answer.body.errors.join()).toMatch(sentence);
  });

  test('wait=0 answers at once, and the sync follows', async () => {
    await write('a', { k: 'v' });
    await system.fault({ effect: 'slow', ms: 2_000 }); // who waits, up to 5 s, sees it synced
    const { body } = expectStatus(await set('a', {}, '?wait=0'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`].sync_status).toBe('PENDING');
    await statusIs('a', 'SYNCED');
  });
});

describe('the secret changes', () => {
  test('a new version and a patch are pushed; an unchanged value is no call', async () => {
    await synced('a', { k: '1' });
    await write('a', { k: '2' });
    await eventually(
      () => value('a'),
      (text) => text === '{"k":"2"}',
    );
    await system.api('PATCH', `${at.mount}/data/a`, { data: { l: '3' } });
    await eventually(
      () => value('a'),
      (text) => text === '{"k":"2","l":"3"}',
    );
    await statusIs('a', 'SYNCED');
    const before = await system.calls('PutSecretValue');
    await write('a', { k: '2', l: '3' });
    await eventually(
      async () => (await line('a')).sync_status,
      (status) => status === 'SYNCED',
    );
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await system.calls('PutSecretValue')).toBe(before);
  });

  test('the newest deleted: the one before is pushed; none left: unsynced; undeleted: back', async () => {
    await synced('a', { v: 1 });
    await write('a', { v: 2 });
    await eventually(
      () => value('a'),
      (text) => text === '{"v":2}',
    );
    await system.api('DELETE', `${at.mount}/data/a`);
    expect(
      await eventually(
        () => value('a'),
        (text) => text === '{"v":1}',
      ),
    ).toBe('{"v":1}');
    await system.api('POST', `${at.mount}/delete/a`, { versions: [1] });
    expect(
      await eventually(
        () => value('a'),
        (text) => text === undefined,
      ),
    ).toBeUndefined();
    await statusIs('a', 'UNSYNCED');
    await system.api('POST', `${at.mount}/undelete/a`, { versions: [2] });
    expect(
      await eventually(
        () => value('a'),
        (text) => text === '{"v":2}',
      ),
    ).toBe('{"v":2}');
  });

  test('metadata deleted: unsynced, and the association goes', async () => {
    await synced('a', { v: 1 });
    await system.api('DELETE', `${at.mount}/metadata/a`);
    expect(await eventually(lines, (all) => Object.keys(all).length === 0)).toEqual({});
    expect(await value('a')).toBeUndefined();
  });

  test('the mount disabled: unsynced although it is gone', async () => {
    await synced('a', { v: 1 });
    await synced('b', { v: 2 });
    expectStatus(await system.api('DELETE', `sys/mounts/${at.mount}`), 204);
    expect(await eventually(lines, (all) => Object.keys(all).length === 0)).toEqual({});
    expect([await value('a'), await value('b')]).toEqual([undefined, undefined]);
  });
});

describe('secret-key granularity', () => {
  beforeEach(async () => {
    at = await fixture(system, { granularity: 'secret-key' });
  });

  test('one external secret a key, strings as they are, and keys that go take theirs along', async () => {
    await write('a', { text: 'x', number: 1 });
    const { body } = expectStatus(await setAndWait('a'), 200);
    expect(Object.keys(body.data.associated_secrets).sort()).toEqual([
      `${at.accessor}/a/number`,
      `${at.accessor}/a/text`,
    ]);
    expect([await value('a/text'), await value('a/number')]).toEqual(['x', '1']);
    await write('a', { text: 'y', added: true });
    await eventually(
      () => value('a/added'),
      (text) => text === 'true',
    );
    await eventually(
      () => value('a/number'),
      (text) => text === undefined,
    );
    await eventually(
      () => value('a/text'),
      (text) => text === 'y',
    );
    expect([await value('a/text'), await value('a/number'), await value('a/added')]).toEqual([
      'y',
      undefined,
      'true',
    ]);
    expectStatus(await removeAndWait('a'), 200);
    expect(await value('a/text')).toBeUndefined();
  });

  test('a key without a name is refused, and one that comes later is passed over', async () => {
    await write('a', { '': 'x', named: 'y' });
    const { body } = expectStatus(await set('a'), 400);
    expect(body.errors[0]).toMatch(/^secret_name: a in mount .* has a key that is the empty string/);
    await write('a', { named: 'y' });
    expectStatus(await setAndWait('a'), 200);
    await write('a', { '': 'x', named: 'z', later: 'l' });
    await eventually(
      () => value('a/later'),
      (text) => text === 'l',
    );
    await eventually(
      () => value('a/named'),
      (text) => text === 'z',
    );
    expect([await value('a/named'), await value('a/later'), await value('a')]).toEqual(['z', 'l', undefined]);
  });
});

test('a new key that cannot be named in the destination does not hold up the others, and its line says why', async () => {
  at = await fixture(system, {
    granularity: 'secret-key',
    secret_name_template: 'own/{{ .MountAccessor }}/{{ .SecretKey }}',
  });
  await write('a', { good: '1' });
  expectStatus(await setAndWait('a'), 200);
  await write('a', { good: '2', 'not good': 'x', better: '3' });
  const named = async (key: string) => (await system.outside())[`own/${at.accessor}/${key}`]?.value;
  await eventually(
    () => named('better'),
    (text) => text === '3',
  );
  await eventually(
    () => named('good'),
    (text) => text === '2',
  );
  expect([await named('good'), await named('better')]).toEqual(['2', '3']);
  expect((await lines())[`${at.accessor}/a/not good`]).toMatchObject({
    sync_status: 'CLIENT_SIDE_ERROR',
    last_error: expect.stringMatching(/^the external name "own\/.*not good" cannot be used/),
  });
  const { body } = await system.api('GET', `sys/sync/associations/${at.mount}/a`);
  expect(Object.values(body.data.associated_destinations)).toEqual([
    expect.objectContaining({ sync_status: 'CLIENT_SIDE_ERROR' }),
  ]);
});

describe('names', () => {
  test('two associations that meet in one name: the second is refused, both named', async () => {
    at = await fixture(system, { secret_name_template: 'shared/{{ .SecretBaseName }}-{{ .MountAccessor }}' });
    await write('one/x', { a: 1 });
    await write('two/x', { a: 2 });
    expectStatus(await setAndWait('one/x'), 200);
    const { body } = expectStatus(await set('two/x'), 409);
    expect(body.errors[0]).toContain('one/x');
    expect(body.errors[0]).toContain(`shared/x-${at.accessor}`);
  });

  test('a changed template: setting again creates the new name first, then deletes the old', async () => {
    await synced('a', { v: 1 });
    expectStatus(
      await system.api('PATCH', at.path, {
        secret_name_template: 'new/{{ .MountAccessor }}/{{ .SecretPath }}',
      }),
      200,
    );
    expect(await value('a')).toBe('{"v":1}');
    expectStatus(await setAndWait('a'), 200);
    const names = await eventually(
      async () => Object.keys(await system.outside()),
      (all) => !all.includes(external('a')),
    );
    expect(names).toContain(`new/${at.accessor}/a`);
    expect(names).not.toContain(external('a'));
  });

  test('a foreign external secret is left alone, until the operator says otherwise', async () => {
    await synced('a', { v: 'ours' });
    const other = await fixture(system, { secret_name_template: external('a') });
    await system.api('POST', `${other.mount}/data/b`, { data: { v: 'theirs' } });
    const setOther = (more = {}) =>
      system.api('POST', `${other.path}/associations/set`, { mount: other.mount, secret_name: 'b', ...more });
    const { body } = expectStatus(await untilOver(setOther), 200);
    expect(Object.values(body.data.associated_secrets)).toEqual([
      expect.objectContaining({
        sync_status: 'CLIENT_SIDE_ERROR',
        last_error: expect.stringMatching(/not ours|exists/i),
      }),
    ]);
    expect(await value('a')).toBe('{"v":"ours"}');
    await setOther({ overwrite: true });
    expect(
      await eventually(
        () => value('a'),
        (text) => text === '{"v":"theirs"}',
      ),
    ).toBe('{"v":"theirs"}');
  });
});

describe('faults', () => {
  test('permission refused: said so, waits for the operator, and set retries', async () => {
    await write('a', { v: 1 });
    await system.fault({ effect: 'error', code: 'AccessDeniedException', status: 400 });
    const { body } = expectStatus(await setAndWait('a'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`]).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      next_attempt_at: null,
    });
    await system.clearFaults();
    await statusIs('a', 'CLIENT_SIDE_ERROR');
    expectStatus(await setAndWait('a'), 200);
    await statusIs('a', 'SYNCED');
  });

  test('wrong credentials: what failed is tried again once the destination is corrected', async () => {
    const right = at;
    at = await fixture(system, { access_key_id: 'AKIAWRONG', secret_access_key: 'wrong' });
    for (const name of ['a', 'b']) {
      await write(name, { v: name });
      const { body } = expectStatus(await setAndWait(name), 200);
      expect(body.data.associated_secrets[`${at.accessor}/${name}`].sync_status).toBe('CLIENT_SIDE_ERROR');
    }
    await remove('b');
    await statusIs('b', 'CLIENT_SIDE_ERROR');
    expectStatus(await system.api('PATCH', at.path, right.keys), 200);
    await statusIs('a', 'SYNCED');
    expect(await value('a')).toBe('{"v":"a"}');
    await eventually(
      () => line('b'),
      (one) => one === undefined,
    );
    expect(Object.keys(await lines())).toEqual([`${at.accessor}/a`]);
  });

  test('throttled for a moment: still pending, with the reason, and set waits it out', async () => {
    await write('a', { v: 1 });
    await system.fault({ effect: 'throttle', retryAfterSeconds: 5, times: 1 });
    const answer = set('a');
    const waiting = await eventually(
      () => line('a'),
      (one) => one?.attempts === 1 && one.last_error !== null,
    );
    expect(waiting).toMatchObject({
      sync_status: 'PENDING',
      last_error: expect.stringContaining('too many requests'),
      next_attempt_at: expect.any(String),
    });
    const { body } = expectStatus(await answer, 200);
    expect(['PENDING', 'SYNCED']).toContain(body.data.associated_secrets[`${at.accessor}/a`].sync_status);
    await statusIs('a', 'SYNCED');
  });

  test('a name that is still being freed waits alone, without holding up the destination', async () => {
    for (const name of ['a', 'b']) await write(name, { v: name });
    // What a create is answered shortly after a delete.
    const taken = {
      effect: 'error',
      operation: 'CreateSecret',
      code: 'InvalidRequestException',
      status: 400,
    };
    await system.fault({ ...taken, name: external('a') });
    await set('a', {}, '?wait=0');
    const waiting = await eventually(
      () => line('a'),
      (one) => one?.last_error !== null,
    );
    expect(waiting).toMatchObject({
      sync_status: 'PENDING',
      last_error: expect.stringContaining('still in use'),
    });
    const { body } = expectStatus(await setAndWait('b'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/b`].sync_status).toBe('SYNCED');
    await system.clearFaults();
    await statusIs('a', 'SYNCED');
  });

  test('throttled and down: tried again by itself', async () => {
    await write('a', { v: 1 });
    await system.fault({ effect: 'throttle', times: 2 });
    await set('a', {}, '?wait=0');
    await statusIs('a', 'SYNCED');
    await system.fault({ effect: 'server-error', times: 1 });
    await write('a', { v: 2 });
    expect(
      await eventually(
        () => value('a'),
        (text) => text === '{"v":2}',
      ),
    ).toBe('{"v":2}');
  });

  test('the answer is lost after the act: right in the end, one version', async () => {
    await write('a', { v: 1 });
    await system.fault({ effect: 'act-then-die', times: 1 });
    await set('a', {}, '?wait=0');
    await statusIs('a', 'SYNCED');
    expect((await system.outside())[external('a')]).toMatchObject({ value: '{"v":1}', version_count: 1 });
  });

  test('a value that is too large says size and limit', async () => {
    await write('a', { v: 'x'.repeat(70_000) });
    const { body } = expectStatus(await setAndWait('a'), 200);
    expect(body.data.associated_secrets[`${at.accessor}/a`]).toMatchObject({
      sync_status: 'CLIENT_SIDE_ERROR',
      last_error: expect.stringMatching(/700\d\d bytes.*65536/),
    });
  });

  test('one failing entry does not keep the others', async () => {
    for (const name of ['bad', 'good1', 'good2']) await write(name, { v: name });
    await system.fault({
      effect: 'error',
      code: 'AccessDeniedException',
      status: 400,
      name: external('bad'),
    });
    for (const name of ['bad', 'good1', 'good2']) await setAndWait(name);
    await statusIs('bad', 'CLIENT_SIDE_ERROR');
    expect([await value('good1'), await value('good2')]).toEqual(['{"v":"good1"}', '{"v":"good2"}']);
  });
});

describe('sys/sync/config', () => {
  test('disabled as a string; set is PENDING and nothing goes out; enabled: it does', async () => {
    const { body } = expectStatus(await system.api('PATCH', 'sys/sync/config', { disabled: 'true' }), 200);
    expect(body.data).toEqual({ disabled: true, queue_capacity: 1_000_000 });
    expect(body.mount_type).toBe('system');
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await write('a', { v: 1 });
    const pending = expectStatus(await set('a'), 200);
    expect(pending.body.data.associated_secrets[`${at.accessor}/a`].sync_status).toBe('PENDING');
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(await value('a')).toBeUndefined();
    await system.api('PATCH', 'sys/sync/config', { disabled: false });
    await statusIs('a', 'SYNCED');
  });

  test('the queue is bounded for sets and never for writes', async () => {
    await system.api('PATCH', 'sys/sync/config', { disabled: true, queue_capacity: '2' });
    for (const name of ['a', 'b', 'c']) await write(name, { v: 1 });
    expectStatus(await set('a'), 200);
    expectStatus(await set('b'), 200);
    const full = expectStatus(await set('c'), 429);
    expect(full.body.errors[0]).toMatch(/queue_capacity is 2/);
    expectStatus(await write('a', { v: 2 }), 200);
    await system.api('DELETE', 'sys/sync/config');
    await statusIs('b', 'SYNCED');
    expect(
      await eventually(
        () => value('a'),
        (text) => text === '{"v":2}',
      ),
    ).toBe('{"v":2}');
    expectStatus(await set('c'), 200);
  });

  test.each([{ disabled: 'maybe' }, { queue_capacity: 0 }, { queue_capacity: 'x' }])(
    '%j is refused, naming the field',
    async (given) => {
      const { body } = expectStatus(await system.api('PATCH', 'sys/sync/config', given), 400);
      expect(body.errors[0]).toContain(Object.keys(given)[0]);
    },
  );
});

describe('destinations', () => {
  test('reads mask secrets; an update keeps what it omits; writing the mask back changes nothing', async () => {
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
    await synced('a', { v: 1 });
    expect((await system.outside())[external('a')]!.tags).toMatchObject({ team: 'shop' });
  });

  test('what cannot change is refused', async () => {
    const { body } = expectStatus(await system.api('PATCH', at.path, { region: 'us-east-1' }), 400);
    expect(body.errors[0]).toMatch(/^region/);
  });

  test('delete: 204 when empty or absent, 400 with associations, purge unsyncs first', async () => {
    await synced('a', { v: 1 });
    const refused = expectStatus(await system.api('DELETE', at.path), 400);
    expect(refused.body.errors[0]).toContain('1 association');
    expectStatus(await system.api('DELETE', `${at.path}?purge=true`), 204);
    const gone = await eventually(
      () => system.api('GET', at.path),
      ({ status }) => status === 404,
    );
    expect(gone.status).toBe(404);
    expect(await value('a')).toBeUndefined();
    expectStatus(await system.api('DELETE', at.path), 204);
  });

  test('a purge that fails says why, locks nothing, and succeeds when asked for again', async () => {
    await synced('a', { v: 1 });
    await system.fault({ effect: 'error', code: 'AccessDeniedException', status: 400 });
    expectStatus(await system.api('DELETE', `${at.path}?purge=true`), 204);
    const read = () => system.api('GET', at.path);
    const failed = await eventually(read, ({ body }) => body.data?.purge_error !== '');
    expect(failed.body.data.purge_error).toMatch(/AccessDenied/);
    await system.clearFaults();
    await synced('b', { v: 2 });
    expect((await read()).body.data.purge_initiated_at).toBeUndefined();
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // more than a turn of the purge
    expect(await value('b')).toBe('{"v":2}');
    expectStatus(await system.api('DELETE', `${at.path}?purge=true`), 204);
    expect((await eventually(read, ({ status }) => status === 404)).status).toBe(404);
    expect([await value('a'), await value('b')]).toEqual([undefined, undefined]);
  });

  test('force_delete forgets without calling the provider', async () => {
    await synced('a', { v: 1 });
    expectStatus(await system.api('DELETE', `${at.path}?force_delete=true`), 204);
    expect(await value('a')).toBe('{"v":1}');
  });

  test('lists: by type, of one type, and 404 when empty', async () => {
    const all = expectStatus(await system.api('LIST', 'sys/sync/destinations'), 200).body.data;
    expect(all.keys).toEqual(['cloudA-sm/']);
    expect(all.key_info['cloudA-sm/']).toContain(at.destination);
    expect(all.total_destinations).toBe(all.key_info['cloudA-sm/'].length);
    const some = expectStatus(await system.api('GET', 'sys/sync/destinations/cloudA-sm?list=true'), 200).body
      .data;
    expect(some.keys).toContain(at.destination);
  });
});

describe('where a secret goes', () => {
  test('by path, and by query for names with slashes; 404 without any', async () => {
    await synced('deep/name', { v: 1 });
    const expected = {
      [`cloudA-sm/${at.destination}`]: {
        type: 'cloudA-sm',
        name: at.destination,
        sync_status: 'SYNCED',
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

  test('the list of everything names mount and secret', async () => {
    await synced('listed', { v: 1 });
    const { body } = expectStatus(await system.api('LIST', 'sys/sync/associations'), 200);
    expect(body.data.key_info[`${at.mount}/listed`]).toEqual([
      { mount: `${at.mount}/`, secret_path: 'listed' },
    ]);
    expect(body.data.total_associations).toBeGreaterThanOrEqual(body.data.total_secrets);
  });

  test('its pages follow on each other by what a page shows last', async () => {
    for (const name of ['p1', 'p2', 'p3']) await synced(name, { v: 1 });
    const page = `sys/sync/associations?limit=2&after_mount=${at.mount}`;
    const first = expectStatus(await system.api('LIST', page), 200).body;
    expect(first.warnings).toEqual([expect.stringContaining('there may be more')]);
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

describe('who may', () => {
  test('set needs the caller’s own right to read the secret', async () => {
    await write('mine', { v: 1 });
    await write('other', { v: 1 });
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
