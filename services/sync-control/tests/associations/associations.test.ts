import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { PathRule } from '@secrets/access';
import { writePolicy } from '@secrets/access/testing';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

/** The line of the secret `a`. */
const line = (more: object = {}) => ({
  accessor: at.accessor,
  mount: at.mount,
  secret_name: 'a',
  sub_key: '',
  external_name: `secrets/${at.accessor}/a`,
  sync_status: 'PENDING',
  updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/),
  attempts: 0,
  next_attempt_at: null,
  last_error: null,
  verified_at: null,
  drift: null,
  drift_seen_at: null,
  evidence: null,
  held_by_hand: true,
  held_by_rules: [],
  ...more,
});
const change = (fields: object) => sync.call('PATCH', at.path, fields);
const statuses = async () =>
  Object.fromEntries(Object.entries(await at.lines()).map(([key, one]) => [key, one.sync_status]));

describe('set', () => {
  test('returns the association, pending if it does not wait', async () => {
    await at.write('a', { k: 'v' });
    const { status, body } = await at.set('a');
    expect(status).toBe(200);
    expect(body.data).toEqual({
      associated_secrets: { [`${at.accessor}/a`]: line() },
      store_name: at.name,
      store_type: 'cloudA-sm',
    });
  });

  test('of a secret without keys, at secret-key granularity, warns that nothing is synced yet', async () => {
    await change({ granularity: 'secret-key' });
    await at.write('a', {});
    const { status, body } = await at.set('a');
    expect([status, body.data.associated_secrets]).toEqual([200, {}]);
    expect(body.warnings).toEqual([expect.stringMatching(/no keys, so nothing is synced yet/)]);
  });

  test('waits for the outcome', async () => {
    await at.write('a', { k: 'v' });
    const { body } = await sync.workDuring(at.set('a', {}, '?wait=5'));
    expect(body.data.associated_secrets[`${at.accessor}/a`]).toEqual(line({ sync_status: 'SYNCED' }));
  });

  test('does not wait while syncing is disabled', async () => {
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
    await at.write('a', { k: 'v' });
    const started = Date.now();
    const { body } = await at.set('a', {}, '?wait=5');
    expect(body.data.associated_secrets[`${at.accessor}/a`]).toEqual(line());
    expect(Date.now() - started).toBeLessThan(4_900);
    expect(await sync.work()).toBe(0);
  });

  test('pushes an existing association again', async () => {
    await at.write('a', { k: 'v' });
    await at.set('a');
    await sync.work();
    expect(await statuses()).toEqual({ [`${at.accessor}/a`]: 'SYNCED' });
    await at.set('a');
    expect(await statuses()).toEqual({ [`${at.accessor}/a`]: 'PENDING' });
  });

  test('ignores slashes around mount and secret name', async () => {
    await at.write('a', { k: 'v' });
    await at.set('/a/', { mount: `/${at.mount}/` });
    expect(await at.lines()).toEqual({ [`${at.accessor}/a`]: line() });
  });

  test.each([
    [
      'a secret that does not exist',
      () => at.set('none'),
      /^secret_name: there is no secret none in mount kv-/,
    ],
    [
      'a folder',
      () => at.write('f/x', {}).then(() => at.set('f')),
      /^secret_name: f in mount kv-.* is a folder/,
    ],
    ['a mount that does not exist', () => at.set('a', { mount: 'none' }), /^mount: .*none/],
    ['a missing name', () => at.set('a', { secret_name: undefined }), /^secret_name is required$/],
    ['an empty mount', () => at.set('a', { mount: '/' }), /^mount: must not be empty$/],
    ['a number as name', () => at.set('a', { secret_name: 1 }), /^secret_name: must be a string$/],
    ['an invalid flag', () => at.set('a', { overwrite: 'x' }), /^overwrite: /],
    ['an invalid wait', () => at.set('a', {}, '?wait=6'), /^wait: /],
  ])('refuses %s with 400, naming the field', async (_what, set, sentence) => {
    const { status, body } = await set();
    expect([status, body.errors[0]]).toEqual([400, expect.stringMatching(sentence)]);
  });

  test('refuses a secret whose versions are all deleted with 400', async () => {
    await at.write('a', { k: 'v' });
    await sync.secrets('DELETE', `/${at.mount}/data/a`);
    const { status, body } = await at.set('a');
    expect([status, body.errors[0]]).toEqual([
      400,
      expect.stringMatching(/^secret_name: every version of a/),
    ]);
  });

  test('returns 404 for a destination that does not exist', async () => {
    const set = (path: string) =>
      sync.call('POST', `/sys/sync/destinations/${path}/associations/set`, {
        mount: at.mount,
        secret_name: 'a',
      });
    const missing = await set('cloudA-sm/none');
    expect([missing.status, missing.body.errors]).toEqual([404, []]);
    const unknown = await set('cloudX/none');
    expect([unknown.status, unknown.body.errors]).toEqual([404, [expect.stringMatching(/^type: /)]]);
  });

  test('refuses a secret that the caller may not read with 403, naming mount and secret', async () => {
    for (const name of ['mine', 'other']) await at.write(name, { k: 'v' });
    const policy = `p-${randomUUID()}`;
    await writePolicy(sync.db, policy, { [`${at.mount}/data/mine`]: ['read'] });
    const caller = testCaller({ policies: [policy], grants: ['create', 'update'] });
    const setAs = (secretName: string) =>
      sync.call(
        'POST',
        `${at.path}/associations/set?wait=0`,
        { mount: at.mount, secret_name: secretName },
        caller,
      );
    expect((await setAs('mine')).status).toBe(200);
    const { status, body } = await setAs('other');
    expect([status, body.errors]).toEqual([
      403,
      [`permission denied: your token may not read the secret other in mount ${at.mount}`],
    ]);
  });

  test.each<Omit<PathRule, 'path' | 'capabilities'>>([
    { required_parameters: ['version'] },
    { min_wrapping_ttl: 60 },
    { max_wrapping_ttl: 60 },
  ])('refuses set and plan of a secret that the caller may read only with %j', async (condition) => {
    await at.write('a', { k: 'v' });
    const policy = `p-${randomUUID()}`;
    const settable = async (more: typeof condition) => {
      await writePolicy(sync.db, policy, { [`${at.mount}/data/a`]: { capabilities: ['read'], ...more } });
      const caller = testCaller({ policies: [policy], grants: ['create', 'update'] });
      const paths = ['set?wait=0', 'plan'].map((call) => `${at.path}/associations/${call}`);
      const body = { mount: at.mount, secret_name: 'a' };
      const responses = paths.map((path) => sync.call('POST', path, body, caller));
      return (await Promise.all(responses)).map(({ status }) => status);
    };
    expect(await settable(condition)).toEqual([403, 403]);
    expect(
      await settable({ denied_parameters: { version: [] }, allowed_parameters: { version: [] } }),
    ).toEqual([200, 200]);
  });

  describe('with overwrite: true', () => {
    const setAs = (grants: Caller['grants'], more: object = { overwrite: true }) =>
      sync.call(
        'POST',
        `${at.path}/associations/set?wait=0`,
        { mount: at.mount, secret_name: 'a', ...more },
        testCaller({ policies: [policy], grants }),
      );
    const policy = `p-${randomUUID()}`;
    const overwrites = async () =>
      (await sync.db.query<{ overwrite: boolean }>('select overwrite from sync.entries')).map(
        (entry) => entry.overwrite,
      );

    beforeEach(async () => {
      await at.write('a', { k: 'v' });
      await writePolicy(sync.db, policy, { [`${at.mount}/data/a`]: ['read'] });
    });

    test("is refused with 403 if the destination's conflict_policy is refuse, and changes nothing", async () => {
      const { status, body } = await setAs(['create', 'update']);
      expect([status, body.errors]).toEqual([
        403,
        [`overwrite: the destination's conflict_policy is refuse, so overwrite requires sudo`],
      ]);
      expect(await at.lines()).toEqual({});
      expect((await setAs(['create', 'update'], { overwrite: false })).status).toBe(200);
      expect(await overwrites()).toEqual([false]);
    });

    test('is accepted from a caller with sudo, whatever the conflict_policy is', async () => {
      expect((await setAs(['create', 'update', 'sudo'])).status).toBe(200);
      expect(await overwrites()).toEqual([true]);
    });

    test('is accepted from any caller if the conflict_policy is overwrite', async () => {
      await change({ conflict_policy: 'overwrite' });
      expect((await setAs(['create', 'update'])).status).toBe(200);
      expect(await overwrites()).toEqual([true]);
    });
  });

  test('refuses a name that another association has with 409, naming both', async () => {
    await change({ secret_name_template: 'shared/{{ .SecretBaseName }}' });
    for (const name of ['one/x', 'two/x']) await at.write(name, { k: 'v' });
    await at.set('one/x');
    const { status, body } = await at.set('two/x');
    expect([status, body.errors]).toEqual([
      409,
      [`the external name shared/x is taken in this destination by ${at.mount}/one/x, as shared/x`],
    ]);
    expect(Object.keys(await at.lines())).toEqual([`${at.accessor}/one/x`]);
  });

  test('replaces a changed name: the old one is removed only after the new one is achieved', async () => {
    await at.write('a', { k: 'v' });
    await at.set('a');
    await sync.work();
    await change({ secret_name_template: 'new/{{ .SecretPath }}' });
    await at.set('a');
    await at.set('a'); // also if it is set again in the meantime
    const names = () =>
      sync.db
        .query<{ name: string; desired: string }>(
          `select external_name as name, desired from sync.entries e join sync.associations a on a.id = association_id
            where mount = $1 order by 1`,
          [at.mount],
        )
        .then((rows) => rows.map(({ name, desired }) => `${desired} ${name}`));
    const old = `secrets/${at.accessor}/a`;
    expect(await names()).toEqual(['present new/a', `absent ${old}`]);
    await sync.work();
    await sync.work();
    expect(await names()).toEqual(['present new/a']);
    expect(await at.lines()).toEqual({
      [`${at.accessor}/a`]: line({ external_name: 'new/a', sync_status: 'SYNCED' }),
    });
  });

  test('has one line for each key at secret-key granularity', async () => {
    await change({ granularity: 'secret-key' });
    await at.write('a', { user: 'u', pass: 'p' });
    const { body } = await at.set('a');
    const ofKey = (key: string) => line({ sub_key: key, external_name: `secrets/${at.accessor}/a/${key}` });
    expect(body.data.associated_secrets).toEqual({
      [`${at.accessor}/a/user`]: ofKey('user'),
      [`${at.accessor}/a/pass`]: ofKey('pass'),
    });
  });

  test('refuses a secret with a key that cannot be synced with 400', async () => {
    await change({ granularity: 'secret-key' });
    await at.write('a', { '': 'x', user: 'u' });
    const { status, body } = await at.set('a');
    expect([status, body.errors[0]]).toEqual([
      400,
      `secret_name: a in mount ${at.mount} has a key that is the empty string, which cannot be synced at secret-key granularity`,
    ]);
    expect(await at.lines()).toEqual({});
  });
});

describe('remove', () => {
  test('returns UNSYNCED for an association that does not exist', async () => {
    const { status, body } = await at.remove('a');
    expect(status).toBe(200);
    expect(body.data).toEqual({
      associated_secrets: {
        [`${at.mount}/a`]: line({
          held_by_hand: false,
          accessor: '',
          external_name: '',
          sync_status: 'UNSYNCED',
        }),
      },
      store_name: at.name,
      store_type: 'cloudA-sm',
    });
  });

  test('does not reveal whether a mount exists, nor its accessor, if there is no association', async () => {
    const { body } = await sync.call('POST', `${at.path}/associations/remove`, {
      mount: 'none',
      secret_name: 'a',
    });
    const text = JSON.stringify((await at.remove('a')).body.data);
    expect(text).not.toContain(at.accessor);
    const withoutTime = (shown: string) => shown.replace(/"updated_at":"[^"]*"/, '');
    expect(withoutTime(text.replaceAll(at.mount, 'none'))).toBe(withoutTime(JSON.stringify(body.data)));
  });

  test('returns the pending association if it does not wait; the association then disappears', async () => {
    await at.write('a', { k: 'v' });
    await at.set('a');
    await sync.work();
    const { body } = await at.remove('a');
    expect(body.data.associated_secrets).toEqual({ [`${at.accessor}/a`]: line({ held_by_hand: false }) });
    await sync.work();
    expect(await at.lines()).toEqual({});
  });

  test('waits for the outcome, and returns UNSYNCED with the removed name', async () => {
    await at.write('a', { k: 'v' });
    await at.set('a');
    await sync.work();
    const { body } = await sync.workDuring(at.remove('a', '?wait=5'));
    expect(body.data.associated_secrets).toEqual({
      [`${at.accessor}/a`]: line({ held_by_hand: false, sync_status: 'UNSYNCED' }),
    });
  });

  test('keeps the association with its error if the removal fails', async () => {
    await at.write('a', { k: 'v' });
    await at.set('a');
    await at.remove('a');
    await sync.work('fail');
    expect(await at.lines()).toEqual({
      [`${at.accessor}/a`]: line({
        held_by_hand: false,
        sync_status: 'CLIENT_SIDE_ERROR',
        attempts: 1,
        last_error: 'no permission',
      }),
    });
  });

  test('removes the association of the mount that exists, not the one of a disabled mount with its name', async () => {
    await at.write('a', { k: 'v' });
    await at.set('a');
    await sync.work();
    const old = `${at.accessor}/a`;
    await sync.secrets('DELETE', `/sys/mounts/${at.mount}`);
    await eventually(async () => (await statuses())[old] === 'PENDING');
    await sync.secrets('POST', `/sys/mounts/${at.mount}`, { type: 'kv' });
    await at.write('a', { k: 'v' });
    // Repeated, because an unordered query may return the right row by chance.
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await at.set('a');
      const { body } = await at.remove('a');
      expect(Object.keys(body.data.associated_secrets)).not.toContain(old);
    }
  });

  test('returns 404 for a destination that does not exist, and names a missing field with 400', async () => {
    const url = '/sys/sync/destinations/cloudA-sm/none/associations/remove';
    const missing = await sync.call('POST', url, { mount: at.mount, secret_name: 'a' });
    expect([missing.status, missing.body.errors]).toEqual([404, []]);
    const { status, body } = await sync.call('POST', url, { mount: at.mount });
    expect([status, body.errors]).toEqual([400, ['secret_name is required']]);
  });
});

describe('GET …/associations', () => {
  test('returns all lines of a destination in pages', async () => {
    for (const name of ['a', 'b', 'c']) {
      await at.write(name, { k: 'v' });
      await at.set(name);
    }
    const read = (query: string) => sync.call('GET', `${at.path}/associations${query}`);
    const first = (await read('?limit=2')).body;
    expect(first.data).toMatchObject({ store_name: at.name, store_type: 'cloudA-sm' });
    expect(first.warnings).toEqual([
      `there may be more associations: ask again with after=${first.data.next}`,
    ]);
    const second = (await read(`?limit=2&after=${first.data.next}`)).body;
    expect(second.data.next).toBeUndefined();
    expect(second.warnings).toBeNull();
    const both = { ...first.data.associated_secrets, ...second.data.associated_secrets };
    expect(Object.keys(both).sort()).toEqual(['a', 'b', 'c'].map((name) => `${at.accessor}/${name}`));
    expect(await at.lines()).toEqual(both);
  });

  test('limits the lines of a secret with many keys, which continues on the next page', async () => {
    at = await sync.fixture({ granularity: 'secret-key' });
    const keys = Array.from({ length: 7 }, (_, index) => `k${index}`);
    for (const name of ['a', 'b', 'c']) {
      await at.write(name, Object.fromEntries(keys.map((key) => [key, 'v'])));
      await at.set(name);
    }
    for (const limit of [1, 3, 7, 21]) {
      const lines: string[] = [];
      let after = '';
      do {
        const { body } = await sync.call('GET', `${at.path}/associations?limit=${limit}${after}`);
        const page = Object.keys(body.data.associated_secrets);
        expect(page.length).toBeLessThanOrEqual(limit);
        lines.push(...page);
        after = body.data.next === undefined ? '' : `&after=${body.data.next}`;
      } while (after !== '');
      expect(lines.sort()).toEqual(
        ['a', 'b', 'c'].flatMap((name) => keys.map((key) => `${at.accessor}/${name}/${key}`)),
      );
    }
  });

  test('returns the two entries of a key that is being renamed as one line, whatever the limit', async () => {
    at = await sync.fixture({ granularity: 'secret-key' });
    await at.write('a', { k: 'v', l: 'v' });
    await at.set('a');
    await sync.work();
    await sync.call('PATCH', at.path, { secret_name_template: 'new/{{ .SecretPath }}/{{ .SecretKey }}' });
    await at.set('a');
    const first = (await sync.call('GET', `${at.path}/associations?limit=1`)).body.data;
    expect(first.associated_secrets).toEqual({
      [`${at.accessor}/a/k`]: expect.objectContaining({ external_name: 'new/a/k' }),
    });
    const rest = (await sync.call('GET', `${at.path}/associations?limit=1&after=${first.next}`)).body.data;
    expect(Object.keys(rest.associated_secrets)).toEqual([`${at.accessor}/a/l`]);
  });

  test('returns no lines for a destination without associations, and 404 for a missing destination', async () => {
    expect(await at.lines()).toEqual({});
    const { status, body } = await sync.call('GET', '/sys/sync/destinations/cloudA-sm/none/associations');
    expect([status, body.errors]).toEqual([404, []]);
  });

  test.each([
    ['?limit=5001', 'limit: must be at most 5000'],
    ['?limit=x', expect.stringMatching(/^limit: /)],
    ['?after=x', expect.stringMatching(/^after: /)],
  ])('refuses %s with 400, naming the field', async (query, sentence) => {
    const { status, body } = await sync.call('GET', `${at.path}/associations${query}`);
    expect([status, body.errors]).toEqual([400, [sentence]]);
  });
});
