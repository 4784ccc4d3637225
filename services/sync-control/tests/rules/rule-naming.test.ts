import { beforeEach, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';
import { mayEverything, type RulesForTest, rulesOf } from './rules-for-test.ts';

const sync = useSyncControl();
let at: Fixture;
let owner: Caller;
let rules: RulesForTest;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture({ secret_name_template: 'by-destination/{{ .SecretPath }}' });
  owner = await mayEverything(sync);
  rules = rulesOf(sync, at, owner);
});

const template = 'by-rule/{{ .SecretPath }}';
const names = async () =>
  Object.values(await at.lines())
    .map(({ external_name: name }) => name)
    .sort();
const patch = (name: string, body: object) => sync.call('PATCH', rules.path(name), body, owner);

test('a rule names what it associates, by batches, one by one, and in its plan', async () => {
  await at.write('a', { v: 1 });
  await at.write('b', { v: 1 });
  const { secrets } = (await rules.plan('r', { path: '*', secret_name_template: template })).body.data;
  expect(secrets[0].external_secrets).toMatchObject([{ external_name: 'by-rule/a' }]);
  const shown = await rules.accept('r', { path: '*', secret_name_template: template });
  expect(shown).toMatchObject({ secret_name_template: template, granularity: null, value_key: null });
  await rules.upToDate('r');
  await at.write('c', { v: 1 });
  await eventually(async () => (await names()).length === 3);
  expect(await names()).toEqual(['by-rule/a', 'by-rule/b', 'by-rule/c']);
  expect((await rules.plan('r')).body.data.secrets).toMatchObject([
    { change: 'kept', problems: [] },
    { change: 'kept', problems: [] },
    { change: 'kept', problems: [] },
  ]);
});

test('a rule at secret-key granularity follows keys that are added and removed', async () => {
  const byKey = { granularity: 'secret-key', secret_name_template: '{{ .SecretPath }}/{{ .SecretKey }}' };
  await at.write('a', { k: 1 });
  await rules.accept('r', { path: '*', ...byKey });
  await rules.upToDate('r');
  expect(await names()).toEqual(['a/k']);
  await at.write('a', { k: 1, l: 2 });
  await eventually(async () => (await names()).join() === 'a/k,a/l');
  await sync.work();
  await at.write('a', { l: 2 });
  await eventually(async () => {
    await sync.work();
    return (await names()).join() === 'a/l';
  });
});

test('an association keeps the naming that it was made with, also for a set, a replan, and a deletion with keep', async () => {
  await at.write('a', { v: 1 });
  await rules.accept('r', { path: '*', secret_name_template: template });
  await rules.upToDate('r');
  await sync.work();
  expect((await at.set('a')).status).toBe(200);
  const planned = (
    await sync.call('POST', `${at.path}/associations/plan`, { mount: at.mount, secret_name: 'a' })
  ).body;
  expect(planned.data.external_secrets).toMatchObject([{ external_name: 'by-rule/a', change: 'kept' }]);
  const preview = await sync.call('POST', `${at.path}/replan`, { dry_run: true });
  expect(preview.body.data).toMatchObject({ changes: {}, refused: {} });
  expect((await sync.call('DELETE', `${rules.path('r')}?keep=true`)).status).toBe(204);
  await eventually(async () => (await sync.call('GET', rules.path('r'))).status === 404);
  await at.set('a');
  expect(await names()).toEqual(['by-rule/a']);
});

test('a rule refuses a secret whose association has another naming, until nothing holds it', async () => {
  await at.write('a', { v: 1 });
  await at.set('a');
  await sync.work();
  const refused = expect.stringContaining('another secret_name_template, granularity or value_key');
  const body = { path: '*', secret_name_template: template };
  expect((await rules.plan('r', body)).body.data.secrets[0]).toMatchObject({
    change: 'held',
    accepted: false,
    problems: [refused],
  });
  await rules.accept('r', body);
  expect(await rules.upToDate('r')).toMatchObject({ associated: 0, refusals: [{ reason: refused }] });
  await sync.db.query('update sync.rule_refusals set due_at = now()');
  await eventually(
    async () =>
      (await sync.db.query('select from sync.rule_refusals where attempts = 1 and due_at > now()')).length ===
      1,
  );
  expect((await rules.read('r')).refusals).toMatchObject([{ reason: refused }]);
  await at.remove('a');
  await sync.work();
  await eventually(async () => (await at.lines())[`${at.accessor}/a`] === undefined);
  await sync.db.query('update sync.rule_refusals set due_at = now()');
  await eventually(async () => (await names()).join() === 'by-rule/a');
});

test('two rules with one naming hold one association', async () => {
  await at.write('a', { v: 1 });
  for (const name of ['one', 'two']) {
    await rules.accept(name, { path: '*', secret_name_template: template });
    expect(await rules.upToDate(name)).toMatchObject({ associated: 1, refused: 0 });
  }
});

test('the naming of a rule is checked as that of a destination, and changes only while the rule holds nothing', async () => {
  const reasonOf = async (body: object) => (await rules.write('r', { path: '*', ...body })).body.errors[0];
  expect(await reasonOf({ granularity: 'other' })).toBe('granularity: must be secret-path or secret-key');
  expect(await reasonOf({ secret_name_template: '{{' })).toMatch(/^secret_name_template: /);
  expect(await reasonOf({ granularity: 'secret-key', secret_name_template: '', value_key: 'k' })).toMatch(
    /^value_key: requires/,
  );
  await rules.accept('r', { path: '*', value_key: 'v' });
  expect((await patch('r', { value_key: null, granularity: 'secret-path' })).body.data).toMatchObject({
    value_key: null,
    granularity: 'secret-path',
  });
  await at.write('a', { v: 1 });
  await eventually(async () => (await rules.read('r')).associated === 1);
  const changed = await patch('r', { granularity: null });
  expect([changed.status, changed.body.errors[0]]).toEqual([
    409,
    expect.stringMatching(/^granularity: cannot be changed while the rule holds associations/),
  ]);
  expect((await patch('r', { exclude: ['b'] })).status).toBe(200);
});
