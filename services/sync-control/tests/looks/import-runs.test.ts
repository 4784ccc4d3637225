import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { LookQuestion, StoreAnswer, StoreState } from '@secrets/domain';
import { testCaller } from '@secrets/http/testing';
import { answerStoreRead, claimStoreRead } from '@secrets/sync-entries';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset({ hasWorker: true });
  at = await sync.fixture();
});

const start = (body: object, caller?: Parameters<typeof sync.call>[3]) =>
  sync.call('POST', `${at.path}/import`, { mount: at.mount, dry_run: false, ...body }, caller);

const requested = () => sync.db.query<{ id: string }>('select id from sync.store_reads where answer is null');

const answerNext = async (answer: StoreAnswer) => (await sync.answerRead(answer)) as LookQuestion;

const progress = async () => (await sync.call('GET', `${at.path}/import`)).body.data;

async function ended(state = 'done') {
  await eventually(async () => (await progress()).state !== 'running');
  const import_ = await progress();
  expect([import_.state, import_.error]).toEqual([state, state === 'done' ? null : expect.any(String)]);
  return import_;
}

const found = (state: StoreState['state'], more: Partial<StoreState> = {}): StoreState => ({
  state,
  reason: null,
  ...more,
});
const written = found('different', { isWritten: true });
const temporary = found('unknown', { reason: 'the destination is down', isTemporary: true });
const listed = (name: string) =>
  ({ name, belongs: 'none', isReadable: true, createdAt: null, changedAt: null }) as const;

type Line = Record<'path' | 'result' | 'association' | 'reason', string | null> & { written: boolean };
const inShort = ({ external_secrets: lines }: { external_secrets: Line[] }) =>
  lines.map((line) =>
    [line.path, line.result, line.written ? 'written' : null, line.association, line.reason]
      .filter((part) => part !== null)
      .join(' '),
  );

/** Lets the pause of the import pass. */
const resume = () => sync.db.query('update sync.imports set due_at = now() where fence is null');
/** Waits until a page has been recorded, after which the import pauses. */
const paused = () => eventually(async () => (await progress()).error !== null);

/** A caller whose policy has these rules. `change` replaces them. */
async function callerWith(...paths: { path: string; capabilities: string[] }[]) {
  const policy = `p-${randomUUID()}`;
  const rules = JSON.stringify({ paths });
  await sync.db.query(
    "insert into login.policies (namespace_id, name, source, rules) values ('root', $1, '', $2::jsonb)",
    [policy, rules],
  );
  const change = (changed: typeof paths) =>
    sync.db.query("update login.policies set rules = $2::jsonb where namespace_id = 'root' and name = $1", [
      policy,
      JSON.stringify({ paths: changed }),
    ]);
  return { caller: testCaller({ policies: [policy] }), change };
}
const all = ['create', 'read', 'update'];

describe('an import in the background', () => {
  test('permits a write of what is new, and of another value if a new version is wanted', async () => {
    await at.write('same', { value: 'canary-1' });
    await at.write('other', { value: 'canary-2' });
    const names = ['fresh', 'same', 'other'];
    await start({ names, as: 'key', on_conflict: 'new_version', associate: false });
    const { secrets } = await answerNext({ states: [written, found('equal'), written] });
    const granted = secrets.map(({ write }) => JSON.parse(write!.grant));
    const common = { namespace_id: 'root', mount: at.mount, key: 'value' };
    expect(granted).toEqual([
      { ...common, path: 'fresh', cas: 0, origin: `cloudA-sm/${at.name}/fresh` },
      { ...common, path: 'same', cas: 1, origin: `cloudA-sm/${at.name}/same` },
      { ...common, path: 'other', cas: 1, origin: `cloudA-sm/${at.name}/other` },
    ]);
    const import_ = await ended();
    expect(inShort(import_)).toEqual(['fresh new written', 'same same_value', 'other other_value written']);
    expect(import_.counts).toMatchObject({ new: 1, same_value: 1, other_value: 1, absent: 0 });
    expect(JSON.stringify([secrets, import_])).not.toContain('canary');
  });

  test('leaves another value alone by default', async () => {
    await at.write('other', { value: 'x' });
    await start({ names: ['other'], as: 'key' });
    const { secrets } = await answerNext({ states: [found('different')] });
    expect(secrets[0]).not.toHaveProperty('write');
    expect(inShort(await ended())).toEqual(['other other_value']);
  });

  test('goes through all pages, and uses a path once', async () => {
    await start({ match: '*', path: '{{ split "-" 0 .ExternalName }}', associate: false });
    await answerNext({ secrets: ['a-1', 'a-2', 'b-1'].map(listed), next: { page: '2', name: '' } });
    await answerNext({ states: [written, written] });
    const second = await answerNext({ secrets: ['b-2', 'c-1'].map(listed), next: null });
    expect(second).toMatchObject({ after: { page: '2', name: '' } });
    const { secrets } = await answerNext({ states: [written] });
    expect(secrets.map(({ name }) => name)).toEqual(['c-1']);
    expect(inShort(await ended())).toEqual([
      'a new written',
      'name_not_possible the import has used its path a for a-1',
      'b new written',
      'name_not_possible the import has used its path b for b-1',
      'c new written',
    ]);
  });

  test('records the lines before what could not be looked at, and continues there', async () => {
    await start({ names: ['a', 'b', 'c'], associate: false });
    await answerNext({ states: [written, temporary, written] });
    await paused();
    const { state, error, ...waiting } = await progress();
    expect([state, error, inShort(waiting as never)]).toEqual([
      'running',
      'the destination is down',
      ['a new written'],
    ]);
    await resume();
    const { secrets } = await answerNext({ states: [written, found('equal')] });
    expect(secrets.map(({ name }) => name)).toEqual(['b', 'c']);
    expect(inShort(await ended())).toHaveLength(3);
  });

  test('leaves an external secret out that could not be looked at five times', async () => {
    await start({ names: ['a', 'b'], associate: false });
    await sync.db.query('update sync.imports set attempts = 5');
    await answerNext({ states: [temporary, written] });
    await eventually(async () => (await progress()).external_secrets.length === 1);
    await resume();
    await answerNext({ states: [written] });
    expect(inShort(await ended())).toEqual(['a unreadable the destination is down', 'b new written']);
  });

  test('continues when the account has calls to spare again', async () => {
    await sync.db.query("update sync.lanes set tokens = 26, refilled_at = now() + interval '1 hour'");
    await start({ names: ['a', 'b'], associate: false });
    const first = await answerNext({ states: [written] });
    expect(first.secrets.map(({ name }) => name)).toEqual(['a']);
    await paused();
    expect(await progress()).toMatchObject({
      state: 'running',
      error: expect.stringContaining('no call to spare'),
    });
    await sync.db.query('update sync.lanes set tokens = 50');
    const second = await answerNext({ states: [written] });
    expect(second.secrets.map(({ name }) => name)).toEqual(['b']);
    expect(inShort(await ended())).toEqual(['a new written', 'b new written']);
  });

  test('fails after thirty attempts in a row', async () => {
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
    await start({ names: ['a'], associate: false });
    await sync.db.query('update sync.imports set attempts = 29');
    await sync.db.query('delete from sync.workers');
    await sync.call('PATCH', '/sys/sync/config', { disabled: false });
    const { error } = await ended('failed');
    expect(error).toContain('no worker of type cloudA-sm is running');
  });

  test('waits while syncing is disabled', async () => {
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
    await start({ names: ['a'], associate: false });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await progress()).toMatchObject({ state: 'running', error: null });
    await sync.call('PATCH', '/sys/sync/config', { disabled: false });
    await answerNext({ states: [written] });
    await ended();
  });

  test('fails when its mount is gone', async () => {
    await start({ match: '*', associate: false });
    await answerNext({ secrets: [listed('a')], next: { page: '2', name: '' } });
    await sync.secrets('DELETE', `/sys/mounts/${at.mount}`);
    const next = requested();
    void next;
    await eventually(async () => {
      for (const { id } of await requested()) {
        const read = await claimStoreRead(sync.db, id);
        const isList = read !== undefined && 'after' in read.question;
        await answerStoreRead(sync.db, id, isList ? { secrets: [], next: null } : { states: [written] });
      }
      await resume();
      return (await progress()).state !== 'running';
    });
    expect((await ended('failed')).error).toMatch(/^mount: no key-value store is mounted/);
  });
});

describe('one import of a destination', () => {
  test('runs at a time', async () => {
    const first = await start({ names: ['a'], associate: false });
    const second = await start({ names: ['b'], associate: false });
    expect([second.status, second.body.errors[0]]).toEqual([
      409,
      expect.stringContaining(`import ${first.body.data.id} of this destination is running, since`),
    ]);
    expect((await progress()).names).toEqual(['a']);
    await answerNext({ states: [written] });
    await ended();
    expect((await start({ names: ['b'], associate: false })).body.data).toMatchObject({
      state: 'running',
      external_secrets: [],
    });
  });

  test('is cancelled, but shows what the running page has written', async () => {
    await start({ match: '*' });
    await answerNext({ secrets: [listed('a')], next: { page: '2', name: '' } });
    await eventually(async () => (await requested()).length > 0);
    expect((await sync.call('DELETE', `${at.path}/import`)).status).toBe(204);
    expect((await progress()).state).toBe('cancelled');
    await answerNext({ states: [written] });
    await eventually(async () => (await progress()).external_secrets.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await requested()).toEqual([]);
    expect(await progress()).toMatchObject({
      state: 'cancelled',
      error: null,
      external_secrets: [{ association: 'refused', reason: 'not associated: the import ended before' }],
    });
  });

  test('is not found before the first one, and is deleted with the destination', async () => {
    expect((await sync.call('GET', `${at.path}/import`)).status).toBe(404);
    expect((await sync.call('DELETE', `${at.path}/import`)).status).toBe(204);
    await start({ names: ['a'], associate: false });
    await answerNext({ states: [written] });
    await ended();
    await sync.call('DELETE', at.path);
    expect(await sync.db.query('select from sync.import_lines')).toEqual([]);
  });

  test('is not recorded by a process whose page another one has taken over', async () => {
    await start({ names: ['a'], associate: false });
    await eventually(async () => (await requested()).length > 0);
    await sync.db.query(
      `update sync.imports set fence = gen_random_uuid(), due_at = now() + interval '1 hour'`,
    );
    await answerNext({ states: [written] });
    await eventually(async () => (await sync.db.query('select from sync.store_reads')).length === 0);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect((await progress()).external_secrets).toEqual([]);
  });

  test('does nothing if its row was changed', async () => {
    const other = await sync.fixture();
    await sync.call('PATCH', '/sys/sync/config', { disabled: true });
    await start({ names: ['a'], associate: false });
    await sync.call('POST', `${other.path}/import`, {
      mount: other.mount,
      names: ['b'],
      associate: false,
      dry_run: false,
    });
    await sync.db.query(
      `update sync.imports i set sealed_request = o.sealed_request from sync.imports o where o.id <> i.id`,
    );
    await sync.call('PATCH', '/sys/sync/config', { disabled: false });
    await eventually(async () => {
      const rows = await sync.db.query<{ state: string }>('select state from sync.imports');
      return rows.every(({ state }) => state === 'failed');
    });
    expect(await sync.db.query('select from sync.store_reads')).toEqual([]);
  });
});

describe('the rights of the caller', () => {
  test('decide on each path in the background', async () => {
    const { caller } = await callerWith(
      { path: `${at.mount}/data/a`, capabilities: all },
      { path: `${at.mount}/data/b`, capabilities: ['read'] },
    );
    await start({ match: '*', associate: false }, caller);
    await answerNext({ secrets: ['a', 'b', 'c'].map(listed), next: null });
    const { secrets } = await answerNext({ states: [written] });
    expect(secrets.map(({ name }) => name)).toEqual(['a']);
    const denied = (action: string, path: string) =>
      `${path} not_permitted permission denied: your token may not ${action} the secret ${path} in mount ${at.mount}`;
    expect(inShort(await ended())).toEqual(['a new written', denied('write', 'b'), denied('read', 'c')]);
  });

  test('are those of its policies when the page begins', async () => {
    const { caller, change } = await callerWith({ path: `${at.mount}/data/*`, capabilities: all });
    await start({ match: '*', associate: false }, caller);
    await answerNext({ secrets: [listed('a')], next: { page: '2', name: '' } });
    await eventually(async () => (await requested()).length > 0);
    await change([{ path: `${at.mount}/data/*`, capabilities: ['read'] }]);
    await answerNext({ states: [written] });
    await answerNext({ secrets: [listed('b')], next: null });
    expect(inShort(await ended())).toEqual([
      'a new written',
      expect.stringMatching(/^b not_permitted .*may not write/),
    ]);
  });

  test('are checked for each name before anything is read', async () => {
    const { caller } = await callerWith({ path: `${at.mount}/data/a`, capabilities: all });
    const { status, body } = await start({ names: ['a', 'b'], associate: false }, caller);
    expect([status, body.errors[0]]).toEqual([403, expect.stringContaining('may not read the secret b')]);
    expect((await sync.call('GET', `${at.path}/import`)).status).toBe(404);
    expect(await sync.db.query('select from sync.store_reads')).toEqual([]);
  });

  test.each([
    ['nothing', [], {}, 403, 'permission denied'],
    ['update', ['update'], {}, 403, /overwrite requires sudo/],
    [
      'update, where the destination permits to overwrite',
      ['update'],
      { conflict_policy: 'overwrite' },
      200,
      undefined,
    ],
    ['update and sudo', ['update', 'sudo'], {}, 200, undefined],
  ] as const)('to associate are those of a set: %s', async (_, capabilities, fields, status, error) => {
    await sync.call('PATCH', at.path, fields);
    const { caller } = await callerWith(
      { path: `${at.mount}/data/*`, capabilities: all },
      { path: `${at.path.slice(1)}/associations/set`, capabilities: [...capabilities] },
    );
    for (const selection of [{ match: '*' }, { names: ['a'] }]) {
      const response = await start(selection, caller);
      expect(response.status).toBe(status);
      if (typeof error === 'string') expect(response.body.errors).toEqual([error]);
      if (error instanceof RegExp) expect(response.body.errors[0]).toMatch(error);
      await sync.call('DELETE', `${at.path}/import`);
    }
  });
});

describe('the associations of an import', () => {
  const template = { secret_name_template: '{{ .SecretPath }}' };

  /** Imports secrets that have equal values. */
  async function importEqual(names: string[], body: object = {}) {
    await start({ names, ...body });
    await answerNext({ states: names.map(() => found('equal')) });
    return inShort(await ended());
  }

  test('take over what has an equal value', async () => {
    await sync.call('PATCH', at.path, template);
    await at.write('a', { v: 1 });
    expect(await importEqual(['a'])).toEqual(['a same_value associated']);
    expect(await at.lines()).toMatchObject({ [`${at.accessor}/a`]: { external_name: 'a' } });
    const [entry] = await sync.db.query('select overwrite from sync.entries');
    expect(entry).toEqual({ overwrite: true });
  });

  test('are not wanted', async () => {
    await sync.call('PATCH', at.path, template);
    await at.write('a', { v: 1 });
    expect(await importEqual(['a'], { associate: false })).toEqual(['a same_value']);
    expect(await at.lines()).toEqual({});
  });

  test.each([
    [
      'another name',
      { secret_name_template: 'x-{{ .SecretPath }}' },
      {},
      'the secret_name_template of the destination names it x-a',
    ],
    [
      'JSON instead of the key',
      template,
      { as: 'key', key: 'v' },
      'it was imported as the key v, but the destination pushes JSON; see value_key',
    ],
    [
      'another key',
      { ...template, value_key: 'w' },
      { as: 'key', key: 'v' },
      'it was imported as the key v, but the destination pushes the key w; see value_key',
    ],
    [
      'a key instead of JSON',
      { ...template, value_key: 'v' },
      {},
      'it was imported as JSON, but the destination pushes the key v; see value_key',
    ],
    [
      'several',
      { granularity: 'secret-key', secret_name_template: '{{ .SecretPath }}-{{ .SecretKey }}' },
      {},
      'at the granularity of the destination, its secret would be 2 external secrets',
    ],
  ])('are not made where the destination would push %s', async (_, fields, body, reason) => {
    expect((await sync.call('PATCH', at.path, fields)).status).toBe(200);
    await at.write('a', { v: 'x', w: 'y' });
    expect(await importEqual(['a'], body)).toEqual([`a same_value refused not associated: ${reason}`]);
    expect(await at.lines()).toEqual({});
  });

  test('push the key that was imported', async () => {
    await sync.call('PATCH', at.path, { ...template, value_key: 'v' });
    await at.write('a', { v: 'x' });
    expect(await importEqual(['a'], { as: 'key', key: 'v' })).toEqual(['a same_value associated']);
  });

  test('do not rename an existing one', async () => {
    await at.write('a', { v: 1 });
    await at.set('a');
    await sync.work();
    await sync.call('PATCH', at.path, template);
    const before = await at.lines();
    expect(await importEqual(['a'])).toEqual([
      'a same_value refused not associated: its secret has an association with this destination, under another name',
    ]);
    expect(Object.keys(await at.lines())).toEqual(Object.keys(before));
  });

  test('are repeated after a crash without another effect', async () => {
    await sync.call('PATCH', at.path, template);
    await at.write('a', { v: 1 });
    await importEqual(['a']);
    await sync.work();
    const generation = () => sync.db.query('select generation from sync.entries');
    const before = await generation();
    await sync.db.query(`update sync.import_lines set association = 'requested'`);
    await sync.db.query(`update sync.imports set state = 'running', due_at = now()`);
    expect(inShort(await ended())).toEqual(['a same_value associated']);
    expect(await generation()).toEqual(before);
  });

  test('wait while the queue is full', async () => {
    await sync.call('PATCH', at.path, template);
    await at.write('a', { v: 1 });
    await sync.call('PATCH', '/sys/sync/config', { queue_capacity: 1 });
    await at.write('b', { v: 1 });
    await at.set('b');
    await start({ names: ['a'] });
    await answerNext({ states: [found('equal')] });
    await paused();
    expect(inShort(await progress())).toEqual(['a same_value requested']);
    await sync.call('PATCH', '/sys/sync/config', { queue_capacity: 100 });
    await new Promise((resolve) => setTimeout(resolve, 1_200)); // the room is counted once a second
    await resume();
    expect(inShort(await ended())).toEqual(['a same_value associated']);
  });
});

describe('an external secret whose value the store does not return', () => {
  const template = { secret_name_template: '{{ .SecretPath }}' };
  const hidden = found('unknown', { isHidden: true });

  async function importHidden(name: string, body: object = {}, caller?: Parameters<typeof start>[1]) {
    expect((await start({ names: [name], ...body }, caller)).status).toBe(200);
    await answerNext({ states: [hidden] });
    return inShort(await ended());
  }
  const lineShows = (expected: string) => eventually(async () => inShort(await progress())[0] === expected);
  const awaited = () => sync.db.query('select from sync.awaited_values');

  test('is taken over by the first version that somebody writes', async () => {
    await sync.call('PATCH', at.path, template);
    expect(await importHidden('a')).toEqual(['a value_needed awaited']);
    const { body } = await sync.secrets('GET', `/${at.mount}/metadata/a`);
    expect(body.data).toMatchObject({
      current_version: 0,
      custom_metadata: { imported_from: `cloudA-sm/${at.name}/a` },
    });
    expect(await at.lines()).toEqual({});
    await at.write('a', { v: 1 });
    await lineShows('a value_needed associated');
    expect(await sync.db.query('select external_name as name, overwrite from sync.entries')).toEqual([
      { name: 'a', overwrite: true },
    ]);
    expect(await awaited()).toEqual([]);
  });

  test('waits for another version if the first one would not be pushed under its name', async () => {
    await sync.call('PATCH', at.path, { ...template, value_key: 'v' });
    await importHidden('a', { as: 'key', key: 'v' });
    await sync.call('PATCH', at.path, { value_key: 'w' });
    await at.write('a', { v: 1 });
    await lineShows(
      'a value_needed awaited not associated: it was imported as the key v, but the destination pushes the key w; see value_key',
    );
    await sync.call('PATCH', at.path, { value_key: 'v' });
    await at.write('a', { v: 2 });
    await lineShows('a value_needed associated');
  });

  test('is not awaited where its name would be another one', async () => {
    expect(await importHidden('a')).toEqual([
      expect.stringMatching(/^a value_needed refused not associated: the secret_name_template .* names it /),
    ]);
    expect((await sync.secrets('GET', `/${at.mount}/metadata/a`)).status).toBe(404);
    expect(await awaited()).toEqual([]);
  });

  test('is associated with the rights that the caller has when the version is written', async () => {
    await sync.call('PATCH', at.path, { ...template, conflict_policy: 'overwrite' });
    const secrets = { path: `${at.mount}/data/*`, capabilities: all };
    const set = { path: `${at.path.slice(1)}/associations/set`, capabilities: ['update'] };
    const { caller, change } = await callerWith(secrets, set);
    await importHidden('a', {}, caller);
    await change([secrets]);
    await at.write('a', { v: 1 });
    await lineShows('a value_needed awaited not associated: permission denied');
    expect(await at.lines()).toEqual({});
  });

  test('is no longer awaited when its secret is deleted, also without the line', async () => {
    await sync.call('PATCH', at.path, template);
    await importHidden('a');
    await start({ names: ['b'], associate: false });
    await answerNext({ states: [written] });
    await sync.secrets('DELETE', `/${at.mount}/metadata/a`);
    await eventually(async () => (await awaited()).length === 0);
  });

  test('is associated after the next import has replaced its line', async () => {
    await sync.call('PATCH', at.path, template);
    await importHidden('a');
    await start({ names: ['b'], associate: false });
    await answerNext({ states: [written] });
    await ended();
    await at.write('a', { v: 1 });
    await eventually(async () => Object.keys(await at.lines()).length === 1);
    expect(inShort(await progress())).toEqual(['b new written']);
  });
});
