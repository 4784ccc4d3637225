import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';
import { entityWith, mayEverything, type RulesForTest, rulesOf } from './rules-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
let owner: Caller;
let rules: RulesForTest;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
  owner = await mayEverything(sync);
  rules = rulesOf(sync, at, owner);
});

const planOf = async (name: string, body?: object, caller?: Caller) => {
  const { status, body: answer } = await rules.plan(name, body, caller);
  expect([status, answer.errors]).toEqual([200, undefined]);
  return answer.data;
};

/** Uses a destination whose names come from a template. */
async function named(template: string) {
  at = { ...(await sync.fixture({ secret_name_template: template })), mount: at.mount, write: at.write };
  rules = rulesOf(sync, at, owner);
}

const writeMany = (count: number, prefix: string) =>
  sync.db.query(
    `insert into secrets.secrets (id, mount_id, path, current_version)
     select gen_random_uuid(), id, $2 || lpad(n::text, 6, '0'), 0 from secrets.mounts, generate_series(1, $3::int) as n where path = $1`,
    [at.mount, prefix, count],
  );

describe('the plan of a rule that is not saved', () => {
  test('shows names, sizes and numbers, and changes nothing', async () => {
    for (const name of ['a/1', 'a/2', 'a/3', 'b/1']) await at.write(name, { v: 1 });
    await at.set('a/2');
    const plan = await planOf('r', { path: 'a/*', exclude: ['a/3'] });
    expect(plan).toEqual({
      name: 'r',
      store_name: at.name,
      store_type: 'cloudA-sm',
      matched: 2,
      to_associate: 1,
      to_hold: 1,
      to_release: 0,
      complete: true,
      needs_confirm: false,
      fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      error: null,
      secrets: [
        {
          secret_name: 'a/1',
          change: 'associated',
          accepted: true,
          problems: [],
          external_secrets: [
            {
              sub_key: '',
              external_name: expect.stringContaining('a/1'),
              change: 'new',
              replaces: null,
              value_bytes: 7,
              problems: [],
            },
          ],
        },
        expect.objectContaining({ secret_name: 'a/2', change: 'held', accepted: true }),
      ],
    });
    expect(plan.secrets[1].external_secrets).toEqual([
      expect.objectContaining({ change: 'kept', value_bytes: 7 }),
    ]);
    expect((await rules.plan('r')).status).toBe(404);
    expect(await sync.db.query('select from sync.associations')).toHaveLength(1);
    expect(await sync.db.query("select from secrets.secrets where watched and path = 'a/1'")).toEqual([]);
  });

  test('shows names that are taken, or that two of its secrets want', async () => {
    await named('same-{{ .SecretBaseName }}');
    for (const name of ['x/db', 'x/one', 'y/db', 'z/one']) await at.write(name, { v: 1 });
    await sync.call('POST', `${at.path}/associations/set?wait=0`, { mount: at.mount, secret_name: 'y/db' });
    const { secrets } = await planOf('r', { path: '*', exclude: ['y/*'] });
    const problems = secrets.map(
      (one: { secret_name: string; external_secrets: { problems: string[] }[] }) => [
        one.secret_name,
        one.external_secrets.flatMap((external) => external.problems),
      ],
    );
    expect(problems).toEqual([
      ['x/db', [expect.stringContaining('is taken in this destination by')]],
      ['x/one', []],
      ['z/one', ['the external name same-one is also that of x/one, which the rule matches, too']],
    ]);
    expect(secrets.map(({ accepted }: { accepted: boolean }) => accepted)).toEqual([false, true, false]);
  });

  test('shows what its owner may not do, and no size of what the caller may not read', async () => {
    for (const name of ['a', 'b']) await at.write(name, { v: 1 });
    const set = { path: 'sys/sync/destinations/*', capabilities: ['update' as const] };
    const reader = await entityWith(sync, 'reads-a', [
      set,
      { path: `${at.mount}/data/a`, capabilities: ['read'] },
    ]);
    const { secrets } = await planOf('r', { path: '*' }, reader);
    expect(secrets[0]).toMatchObject({ accepted: true, external_secrets: [{ value_bytes: 7 }] });
    expect(secrets[1]).toMatchObject({
      accepted: false,
      problems: [expect.stringContaining('the owner of the rule may not read the secret b')],
      external_secrets: [{ value_bytes: null, problems: [] }],
    });
    const readOnly = await entityWith(sync, 'only-reads', [
      { path: `${at.mount}/data/*`, capabilities: ['read'] },
    ]);
    expect((await planOf('r', { path: 'a' }, readOnly)).secrets[0].problems).toEqual([
      'the owner of the rule may not set this association',
    ]);
  });

  test('has a problem for a secret without a readable version', async () => {
    await at.write('a', { v: 1 });
    await sync.secrets('DELETE', `/${at.mount}/data/a`);
    const { secrets } = await planOf('r', { path: '*' });
    expect(secrets[0]).toMatchObject({
      accepted: false,
      problems: [expect.stringContaining('every version of a')],
    });
  });

  test('with a look says what is in the store, in one question', async () => {
    await sync.reset({ hasWorker: true });
    at = { ...(await sync.fixture()), mount: at.mount, write: at.write };
    rules = rulesOf(sync, at, owner);
    for (const name of ['a', 'b']) await at.write(name, { v: 1 });
    const planned = rules.plan('r', { path: '*', look: true });
    const asked = await sync.answerRead({
      states: [
        { state: 'absent', reason: null },
        { state: 'foreign', reason: null },
      ],
    } as never);
    expect(asked).toMatchObject({ secrets: [{ entryId: null }, { entryId: null }] });
    const { secrets } = (await planned).body.data;
    expect(
      secrets.map((one: { external_secrets: [{ in_store: string }] }) => one.external_secrets[0].in_store),
    ).toEqual(['absent', 'foreign']);
  });

  test('is paged by path', async () => {
    await writeMany(150, 'p/');
    await at.write('q', { v: 1 });
    const first = await planOf('r', { path: '*' });
    expect([first.secrets.length, first.matched, first.next]).toEqual([100, 151, 'p/000100']);
    const { secrets, next, matched } = await planOf('r', { path: '*', after: first.next });
    expect([secrets.length, secrets.at(-1).secret_name, next, matched]).toEqual([
      51,
      'q',
      undefined,
      undefined,
    ]);
  });

  test('counts the first 10,000 secrets, and then has to be confirmed', async () => {
    await writeMany(10_001, 'p/');
    expect(await planOf('r', { path: '*', exclude: ['p/00*'], limit: 1 })).toMatchObject({
      matched: 1,
      to_associate: 1,
      complete: false,
      needs_confirm: true,
    });
  });

  test('is refused like the rule itself', async () => {
    const reasonOf = async (body: object) => (await rules.plan('r', body)).body.errors[0];
    expect(await reasonOf({ path: '' })).toMatch(/^path: must not be empty/);
    expect(await reasonOf({ path: '*', mount: 'missing' })).toMatch(/^mount: /);
    expect(await reasonOf({ path: '*', released: true, after: 'x' })).toMatch(/^after: /);
    expect(await reasonOf({ path: '*', limit: 101 })).toMatch(/^limit: /);
  });
});

describe('the plan of a saved rule', () => {
  test('shows what it holds, and what it would still do', async () => {
    await at.write('a/1', { v: 1 });
    await rules.accept('r', { path: 'a/*' });
    await rules.upToDate('r');
    await writeMany(1, 'a/x');
    expect(await planOf('r')).toMatchObject({
      matched: 2,
      to_associate: 1,
      to_hold: 0,
      to_release: 0,
      secrets: [
        { secret_name: 'a/1', change: 'kept', accepted: true },
        { secret_name: 'a/x000001', change: 'associated', accepted: false },
      ],
    });
  });

  test('shows what a change releases: what no longer matches, and nothing else holds', async () => {
    for (const name of ['a/1', 'a/2', 'a/3', 'b/1', 'b/2']) await at.write(name, { v: 1 });
    await sync.secrets('POST', `/${at.mount}/metadata/a/1`, { custom_metadata: { sync: 'prod' } });
    await rules.accept('r', { path: '*' });
    await rules.accept('b', { path: 'b/1' });
    await rules.upToDate('r');
    await rules.upToDate('b');
    await at.set('a/2');
    const released = async (body: object) =>
      (await planOf('r', { ...body, released: true })).released.map(
        (one: { secret_name: string }) => one.secret_name,
      );
    expect(await planOf('r', { path: 'a/*' })).toMatchObject({ to_release: 1, needs_confirm: true });
    expect(await released({ path: 'a/*' })).toEqual(['b/2']);
    const byMetadata = { path: '*', metadata_match: { sync: 'prod' } };
    expect(await planOf('r', byMetadata)).toMatchObject({ matched: 1, to_release: 2 });
    expect((await released(byMetadata)).sort()).toEqual(['a/3', 'b/2']);
    const other = await sync.fixture();
    expect(await planOf('r', { path: '*', mount: other.mount })).toMatchObject({ matched: 0, to_release: 3 });
    expect(await released({ path: '*' })).toEqual([]);
  });

  test('is refused while the rule is being deleted, and says that its mount is gone', async () => {
    await at.write('a', { v: 1 });
    await rules.accept('r', { path: '*' });
    await rules.upToDate('r');
    await sync.secrets('DELETE', `/sys/mounts/${at.mount}`);
    expect(await planOf('r')).toMatchObject({ error: 'the mount no longer exists', secrets: [], matched: 0 });
    await sync.db.query("update sync.rules set phase = 'ending', due_at = 'infinity'");
    expect((await rules.plan('r')).status).toBe(409);
  });
});

describe('a write of a rule that changes much', () => {
  test('needs the fingerprint of its plan', async () => {
    await writeMany(1_001, 'p/');
    const refused = await rules.write('r', { path: 'p/*' });
    expect([refused.status, refused.body.errors[0]]).toEqual([
      409,
      'confirm: is required: the rule would associate 1001 secrets and release 0 associations; read the plan of the rule again',
    ]);
    const { fingerprint } = await planOf('r', { path: 'p/*' });
    const wrong = await rules.write('r', { path: '*', confirm: 'x' });
    expect([wrong.status, wrong.body.errors[0]]).toEqual([
      409,
      expect.stringContaining('confirm: is not the fingerprint of the current plan'),
    ]);
    const other = await rules.write('r', { path: 'p/*', exclude: ['p/000001'], confirm: fingerprint });
    expect(other.status).toBe(409);
    expect((await rules.plan('r')).status).toBe(404);
    expect((await rules.write('r', { path: 'p/*', confirm: fingerprint })).status).toBe(200);
  });

  test('can be confirmed although secrets are created meanwhile, and repeated', async () => {
    await writeMany(1_110, 'p/');
    const { fingerprint: confirm } = await planOf('r', { path: 'p/*' });
    await writeMany(5, 'p/x');
    expect((await rules.write('r', { path: 'p/*', confirm })).status).toBe(200);
    expect((await rules.write('r', { path: 'p/*', confirm })).status).toBe(200);
    expect((await rules.write('r', { path: 'p/*' })).status).toBe(200);
  });

  test('is one that releases any association', async () => {
    for (const name of ['a', 'b']) await at.write(name, { v: 1 });
    await rules.accept('r', { path: '*' });
    const held = await rules.upToDate('r');
    expect(held.associated).toBe(2);
    const patch = (more: object) => sync.call('PATCH', rules.path('r'), { path: 'a', ...more }, owner);
    const refused = await patch({});
    expect([refused.status, refused.body.errors[0]]).toEqual([
      409,
      expect.stringContaining('associate 0 secrets and release 1 associations'),
    ]);
    expect(await rules.read('r')).toMatchObject({ path: '*', updated_at: held.updated_at });
    const { fingerprint: confirm } = await planOf('r', { path: 'a' });
    expect((await patch({ confirm })).body.data.path).toBe('a');
    await eventually(async () => {
      await sync.work();
      return (await rules.read('r')).associated === 1;
    });
  });
});

test('a plan reads no secret of another namespace', async () => {
  await at.write('a', { v: 1 });
  const stranger = testCaller({ namespace: { id: 'ns', path: 'ns/' }, entityId: owner.entityId });
  expect((await rules.plan('r', { path: '*' }, stranger)).status).toBe(404);
});
