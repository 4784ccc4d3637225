import { beforeEach, expect, test } from '@jest/globals';
import { listPlannedRevisions } from '../../src/queries/changes/reconciliation.ts';
import { eventually, type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const statuses = async () => Object.values(await at.lines()).map(({ sync_status: status }) => status);
const isPending = async () => (await statuses()).includes('PENDING');

async function synced(data: object): Promise<void> {
  await at.write('a', data);
  await at.set('a');
  await sync.work();
  expect(await isPending()).toBe(false);
}

test('a new version is pushed', async () => {
  await synced({ k: '1' });
  await at.write('a', { k: '2' });
  await eventually(isPending);
  await eventually(async () => {
    await sync.work();
    return !(await isPending());
  });
  expect(await statuses()).toEqual(['SYNCED']);
});

test('a deleted version is a change too: the worker pushes what is still readable', async () => {
  await synced({ k: '1' });
  await sync.secrets('DELETE', `/${at.mount}/data/a`);
  await eventually(isPending);
  expect(Object.keys(await at.lines())).toEqual([`${at.accessor}/a`]);
});

test('deleted metadata removes the association', async () => {
  await synced({ k: '1' });
  await sync.secrets('DELETE', `/${at.mount}/metadata/a`);
  await eventually(isPending);
  await sync.work();
  expect(await at.lines()).toEqual({});
});

test('a disabled mount removes the association', async () => {
  await synced({ k: '1' });
  await sync.secrets('DELETE', `/sys/mounts/${at.mount}`);
  await eventually(isPending);
  await sync.work();
  expect(await at.lines()).toEqual({});
});

test('added and removed keys are followed at secret-key granularity', async () => {
  await sync.call('PATCH', at.path, { granularity: 'secret-key' });
  await synced({ kept: '1', removed: '2' });
  await at.write('a', { kept: '1', added: '3' });
  const keys = async () => Object.keys(await at.lines()).map((key) => key.split('/').at(-1));
  await eventually(async () => (await keys()).includes('added'));
  await eventually(async () => {
    await sync.work();
    return (await keys()).sort().join() === 'added,kept';
  });
});

test('a new key that cannot be named does not hold up the others, and its line states the reason', async () => {
  await sync.call('PATCH', at.path, {
    granularity: 'secret-key',
    secret_name_template: '{{ .MountAccessor }}/{{ .SecretKey }}',
  });
  await synced({ good: '1' });
  await at.write('a', { good: '1', 'not good': '2', better: '3' });
  await eventually(async () => Object.keys(await at.lines()).length === 3);
  expect(await at.lines()).toMatchObject({
    [`${at.accessor}/a/better`]: { sync_status: 'PENDING' },
    [`${at.accessor}/a/not good`]: {
      sync_status: 'CLIENT_SIDE_ERROR',
      external_name: '',
      last_error: expect.stringMatching(/^the external name ".*not good" cannot be used: /),
    },
  });
  await at.write('a', { good: '1', better: '3' });
  await eventually(async () => Object.keys(await at.lines()).length === 2);
});

// A secret's state is read, and the commits of it are lost before what was planned from it is recorded.
test('a set and a change are followed although a later state was planned, if that is lost', async () => {
  await synced({ k: '1' });
  const planLostState = () =>
    sync.db.query('update sync.associations set planned_revision = planned_revision + 1000000000');
  await planLostState();
  expect((await at.set('a')).status).toBe(200);
  await sync.work();
  await planLostState();
  await at.write('a', { k: '2' });
  await eventually(isPending);
  const isPlanned = `select a.planned_revision = r.revision as "isPlanned" from sync.associations a join sync.secret_revisions r using (secret_id)`;
  expect(await sync.db.query(isPlanned)).toEqual([{ isPlanned: true }]);
});

test('reconciliation compares an association again whose plan is of a lost state', async () => {
  await synced({ k: '1' });
  const planned = async () =>
    (await listPlannedRevisions(sync.db, { after: '00000000-0000-0000-0000-000000000000', limit: 10 })).map(
      ({ plannedRevision }) => plannedRevision > 0,
    );
  expect(await planned()).toEqual([true]);
  await sync.db.query('update sync.associations set planned_revision = planned_revision + 1000000000');
  expect(await planned()).toEqual([false]);
});
