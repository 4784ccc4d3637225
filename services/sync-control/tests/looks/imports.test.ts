import { beforeEach, describe, expect, test } from '@jest/globals';
import type { LookQuestion, StoreAnswer, StoreState } from '@secrets/domain';
import { testCaller } from '@secrets/http/testing';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset({ hasWorker: true });
  at = await sync.fixture();
});

const plan = (body: object, caller?: Parameters<typeof sync.call>[3]) =>
  sync.call('POST', `${at.path}/import`, { mount: at.mount, ...body }, caller);

async function planned(body: object, ...answers: StoreAnswer[]) {
  const response = plan(body);
  const asked: unknown[] = [];
  for (const answer of answers) asked.push(await sync.answerRead(answer));
  return { asked, ...(await response) };
}

const found = (state: StoreState['state'], reason: string | null = null): StoreState => ({ state, reason });
const listed = { belongs: 'none', isReadable: true, createdAt: null, changedAt: null } as const;

type Line = Record<'external_name' | 'path' | 'result' | 'reason', string | null>;
const linesOf = ({ body }: Awaited<ReturnType<typeof plan>>) =>
  body.data.external_secrets.map(({ external_name: name, path, result, reason }: Line) => [
    name,
    path,
    result,
    reason,
  ]);

describe('POST sys/sync/destinations/:type/:name/import', () => {
  test('says for each name what would happen, and compares values only by their hashes', async () => {
    await at.write('p/same', { value: 'canary-1' });
    await at.write('p/other', { value: 'canary-2', more: 'canary-3' });
    await at.write('p/keyless', { more: 'canary-4' });
    const names = [
      'a-fresh',
      'a-same',
      'a-other',
      'a-keyless',
      'a-hidden',
      'a-theirs',
      'a-managed',
      'a-gone',
      'b',
    ];
    const states = [
      found('different'),
      found('equal'),
      found('different'),
      found('different'),
      found('unknown', 'why'),
      found('another_destination'),
      found('provider'),
      found('absent'),
    ];
    const body = { names, as: 'key', path: 'p/{{ .ExternalName | split "-" 1 }}' };
    const { asked, ...response } = await planned(body, { states });
    const { secrets } = asked[0] as LookQuestion;
    const hash = expect.stringMatching(/./);
    expect(secrets).toEqual([
      { name: 'a-fresh', hash: '', entryId: null, importedAs: 'key' },
      { name: 'a-same', hash, entryId: null, importedAs: 'key' },
      { name: 'a-other', hash, entryId: null, importedAs: 'key' },
      { name: 'a-keyless', hash: '', entryId: null, importedAs: 'key' },
      ...names.slice(4, 8).map((name) => ({ name, hash: '', entryId: null, importedAs: 'key' })),
    ]);
    expect(linesOf(response)).toEqual([
      ['a-fresh', 'p/fresh', 'new', null],
      ['a-same', 'p/same', 'same_value', null],
      ['a-other', 'p/other', 'other_value', null],
      ['a-keyless', 'p/keyless', 'other_value', null],
      ['a-hidden', 'p/hidden', 'unreadable', 'why'],
      ['a-theirs', 'p/theirs', 'not_ours', 'another destination has marked it'],
      ['a-managed', 'p/managed', 'not_ours', 'the provider manages it'],
      ['a-gone', 'p/gone', 'absent', null],
      ['b', null, 'name_not_possible', 'split finds no part 1'],
    ]);
    expect(JSON.stringify([asked, response.body])).not.toContain('canary');
    expect(await sync.db.query('select from sync.associations')).toEqual([]);
  });

  test('lists a page of what matches, and looks only at what may be taken', async () => {
    await at.write('s', { v: 1 });
    await at.set('s');
    const { external_name: own = '' } = (await at.lines())[`${at.accessor}/s`] ?? {};
    const secrets = [
      { ...listed, name: 'x/free' },
      { ...listed, name: 'x/theirs', belongs: 'other' as const },
      { ...listed, name: 'x/hidden', isReadable: false },
      { ...listed, name: 'x//empty' },
      { ...listed, name: 'x/in\u200Bvisible' },
      { ...listed, name: 'unmatched' },
      { ...listed, name: own },
    ];
    const page = { secrets, next: { page: '2', name: '' } };
    const { asked, ...response } = await planned({ match: `x/*` }, page, { states: [found('different')] });
    expect(asked[0]).toEqual({ after: { page: null, name: '' }, limit: 50 });
    expect((asked[1] as LookQuestion).secrets.map(({ name }) => name)).toEqual(['x/free']);
    expect(Object.fromEntries(linesOf(response).map(([name, , ...rest]: string[]) => [name, rest]))).toEqual({
      'x/free': ['new', null],
      'x/theirs': ['not_ours', 'another destination has marked it'],
      'x/hidden': ['value_needed', null],
      'x//empty': ['name_not_possible', expect.stringContaining('two in a row')],
      'x/in\u200Bvisible': ['name_not_possible', 'the path must not contain invisible characters'],
    });
    const { next } = response.body.data;
    const ofOwn = { match: '*', after: next, limit: 1 };
    const second = await planned(ofOwn, { secrets: [{ ...listed, name: own }], next: null });
    expect(second.asked).toEqual([{ after: { page: '2', name: '' }, limit: 1 }]);
    expect(linesOf(second)).toEqual([[own, null, 'associated', `with s in mount ${at.mount}`]]);
    expect(second.body.data.next).toBeUndefined();
  });

  test.each([
    ['fresh', true, 'value_needed', null],
    ['fresh', false, 'unreadable', 'the store does not return the value'],
    ['s', true, 'unreadable', 'the store does not return the value, and its path has one'],
  ])(
    'needs a value for %s that the store does not return, if it is to be associated: %s',
    async (name, associate, ...expected) => {
      await at.write('s', { v: 1 });
      const hidden = { ...found('unknown', 'the store does not return the value'), isHidden: true };
      const response = await planned({ names: [name], associate }, { states: [hidden] });
      expect(linesOf(response)).toEqual([[name, name, ...expected]]);
    },
  );

  test.each([
    [{ mount: 'nowhere', names: ['a'] }, 400, /^mount: no key-value store is mounted at nowhere/],
    [{ match: 'a\\' }, 400, /^match: nothing follows the backslash/],
    [{ names: ['a'], path: '{{ .SecretPath }}' }, 400, /^path: unknown variable/],
    [
      { names: ['a-1', 'a-2'], path: '{{ split "-" 0 .ExternalName }}' },
      400,
      /^path: a-1 and a-2 would both become a$/,
    ],
    [{ names: ['a'], match: '*' }, 400, /^names, match: exactly one/],
    [{}, 400, /^names, match: exactly one/],
    [{ names: ['a'], key: 'k' }, 400, /key.*requires as: key/],
    [{ names: ['a'], after: 'x' }, 400, /after.*requires match/],
    [{ match: '*', after: 'x', dry_run: false }, 400, /after.*requires dry_run/],
    [{ match: '*', limit: 1, dry_run: false }, 400, /limit.*requires dry_run/],
    [
      { mount: 'nowhere', match: '*', dry_run: false },
      400,
      /^mount: no key-value store is mounted at nowhere/,
    ],
    [{ match: 'a\\', dry_run: false }, 400, /^match: nothing follows the backslash/],
    [{ match: '*', path: '{{ .SecretPath }}', dry_run: false }, 400, /^path: unknown variable/],
    [{ match: '*', on_conflict: 'overwrite', dry_run: false }, 400, /on_conflict/],
    [
      { names: ['a-1', 'a-2'], path: '{{ split "-" 0 .ExternalName }}', dry_run: false },
      400,
      /^path: a-1 and a-2 would both become a$/,
    ],
  ])('refuses %j before anything is read', async (body, status, error) => {
    const response = await plan(body);
    expect([response.status, response.body.errors[0]]).toEqual([status, expect.stringMatching(error)]);
    expect(await sync.db.query('select from sync.store_reads')).toEqual([]);
  });

  test.each([
    ['a path that it may not create', 'fresh', ['read', 'update'], 403],
    ['a path that it may not update', 's', ['read', 'create'], 403],
    ['a path that it may not read', 's', ['create', 'update'], 403],
    ['a path that it may create', 'fresh', ['read', 'create'], 200],
    ['a path that it may update', 's', ['read', 'update'], 200],
  ] as const)('decides on the caller as a write does: %s', async (_, name, capabilities, status) => {
    await at.write('s', { value: 'v' });
    const rules = [{ path: `${at.mount}/data/${name}`, capabilities }];
    const policy = `p-${name}-${capabilities.join('-')}-${at.name}`;
    await sync.db.query(
      "insert into login.policies (namespace_id, name, source, rules) values ('root', $1, '', $2::jsonb)",
      [policy, JSON.stringify({ paths: rules })],
    );
    const response = plan({ names: [name] }, testCaller({ policies: [policy] }));
    if (status === 200) await sync.answerRead({ states: [found('different')] });
    const { body, ...answer } = await response;
    expect(answer.status).toBe(status);
    if (status === 403) expect(body.errors[0]).toContain(`the secret ${name} in mount ${at.mount}`);
    expect(await sync.db.query('select from sync.store_reads')).toEqual([]);
  });

  test('shows what the account has no calls left for, without an answer', async () => {
    await sync.db.query("update sync.lanes set tokens = 26, refilled_at = now() + interval '1 hour'");
    const response = await planned({ names: ['a', 'b'] }, { states: [found('different')] });
    expect(linesOf(response)).toEqual([
      ['a', 'a', 'new', null],
      ['b', 'b', 'unreadable', expect.stringContaining('no call to spare')],
    ]);
  });

  test('ends a page before what the account has no calls left for, and continues there', async () => {
    const secrets = ['a', 'b', 'c'].map((name) => ({ ...listed, name }));
    const setTokens = () =>
      sync.db.query("update sync.lanes set tokens = 27, refilled_at = now() + interval '1 hour'");
    await setTokens();
    const page = { secrets, next: null };
    const first = await planned({ match: '*' }, page, { states: [found('different')] });
    expect(linesOf(first)).toEqual([['a', 'a', 'new', null]]);
    await setTokens();
    const rest = { secrets: secrets.slice(1), next: null };
    const after = first.body.data.next;
    const second = await planned({ match: '*', after }, rest, { states: [found('different')] });
    expect(second.asked[0]).toEqual({ after: { page: null, name: 'a' }, limit: 50 });
    expect(linesOf(second)).toEqual([['b', 'b', 'new', null]]);
  });
});
