import { beforeEach, expect, test } from '@jest/globals';
import type { LookQuestion, StoreState } from '@secrets/domain';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset({ hasWorker: true });
  const fields = { granularity: 'secret-key', secret_name_template: 'x/{{ .SecretKey }}' };
  at = await sync.fixture(fields);
});

const plan = (secretName: string) =>
  sync.call('POST', `${at.path}/associations/plan`, {
    mount: at.mount,
    secret_name: secretName,
    look: true,
  });

interface Line {
  external_name: string;
  in_store: string | null;
  in_store_reason: string | null;
}

const statesOf = ({ body }: Awaited<ReturnType<typeof plan>>) =>
  body.data.external_secrets.map((line: Line) => [line.external_name, line.in_store, line.in_store_reason]);

const requested = () => sync.db.query<{ id: string }>('select id from sync.store_reads');

/** Plans, and answers the look as a worker does. Returns what the worker was asked, and the response. */
async function planned(secretName: string, states: StoreState[]) {
  const response = plan(secretName);
  const question = await sync.answerRead({ states });
  return { asked: (question as LookQuestion).secrets, ...(await response) };
}

const found = (state: StoreState['state']): StoreState => ({ state, reason: null });

test('a plan shows what is in the store under each name that a set would write', async () => {
  await at.write('s', { kept: 'canary-1', gone: 'canary-2' });
  await at.set('s');
  await sync.work();
  await sync.db.query('update secrets.secrets set watched = false'); // the change is not followed
  await at.write('s', { kept: 'canary-1', fresh: 'canary-3' });
  const { asked, ...response } = await planned('s', [found('equal'), found('foreign')]);
  const hash = expect.any(String);
  expect(asked).toEqual([
    { name: 'x/kept', hash, entryId: expect.any(String) },
    { name: 'x/fresh', hash, entryId: null },
  ]);
  expect(JSON.stringify(asked)).not.toContain('canary');
  expect(statesOf(response)).toEqual([
    ['x/kept', 'equal', null],
    ['x/fresh', 'foreign', null],
    ['x/gone', null, null],
  ]);
  expect(await requested()).toEqual([]);
});

test('a plan compares the value that value_key selects, and nothing if the secret does not have the key', async () => {
  await at.write('s', { pass: 'p', user: 'u' });
  const asKeys = await planned('s', [found('absent'), found('absent')]);
  const naming = { granularity: 'secret-path', secret_name_template: 'x/{{ .SecretPath }}' };
  await sync.call('PATCH', at.path, { ...naming, value_key: 'pass' });
  const { asked, ...response } = await planned('s', [found('equal')]);
  expect(asked).toEqual([{ name: 'x/s', hash: asKeys.asked[0]!.hash, entryId: null }]);
  expect(statesOf(response)).toEqual([['x/s', 'equal', null]]);
  await sync.call('PATCH', at.path, { value_key: 'other' });
  const refused = await plan('s');
  expect([refused.body.data.accepted, statesOf(refused)]).toEqual([false, [['x/s', null, null]]]);
});

test('a plan compares nothing under a name that another secret has', async () => {
  await at.write('other', { taken: 'v' });
  await at.set('other');
  await at.write('s', { taken: 'guess' });
  const response = await plan('s');
  expect([response.body.data.accepted, statesOf(response)]).toEqual([false, [['x/taken', null, null]]]);
});

test('a plan looks at as many names as the account has calls to spare for', async () => {
  await sync.db.query("update sync.lanes set tokens = 27, refilled_at = now() + interval '1 hour'");
  await at.write('s', { a: '1', b: '2', c: '3' });
  const { asked, ...response } = await planned('s', [found('absent'), found('absent')]);
  expect([asked.length, statesOf(response)]).toEqual([
    2,
    [
      ['x/a', 'absent', null],
      ['x/b', 'absent', null],
      ['x/c', 'unknown', expect.stringContaining('has no call to spare now')],
    ],
  ]);
});

test('a plan is shown without a look that is not possible, with the reason', async () => {
  await sync.db.query('delete from sync.workers');
  await at.write('s', { a: '1' });
  const response = await plan('s');
  expect([response.status, statesOf(response)]).toEqual([
    200,
    [['x/a', 'unknown', 'no worker of type cloudA-sm is running']],
  ]);
});
