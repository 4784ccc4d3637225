import type { SyncStatus } from '@secrets/domain';
import {
  admitEntries,
  announcedEntries,
  contestEntries,
  countByDrift,
  countByStatus,
  countDue,
  countEntries,
  countFailedBeforeRetry,
  countPending,
  countPresent,
  countRepairable,
  countToPush,
  countUndecided,
  countWanted,
  deleteSomeEntries,
  endAllLeases,
  ensureLane,
  entriesAfter,
  entriesOf,
  entriesOfSubKeys,
  findEntry,
  handOverEntries,
  hasRepairable,
  insertEntries,
  liftPause,
  listLanes,
  lockRepairable,
  markAnnounced,
  namesTaken,
  pendingAssociations,
  pushChangedSecret,
  pushSomeAgain,
  readCodehostApp,
  readHealth,
  readHistory,
  readInspectedAt,
  readInspectionAges,
  readQueues,
  readTypePauses,
  readTypeQueues,
  recordReplacements,
  releaseAdmitted,
  removalError,
  repairEntries,
  requestPut,
  requestRemoval,
  retryFailed,
  reviveAll,
  reviveEntries,
  reviveParkedEntries,
  reviveStuckEntries,
  subKeysWithDrift,
  subKeysWithStatus,
} from '@secrets/sync-entries';
import { restartBackgroundWork } from '../../../../sync-control/src/queries/destinations/restart-background-work.ts';
import type { CaseDb } from '../measured-db.ts';
import { type Case, casesOf, column, destinations, seededId } from './cases.ts';

const destinationType = 'cloudA-sm';
const budget = { perSecond: 1_000, burst: 1_000 };

const idsOf = (db: CaseDb, table: 'entries' | 'associations', destinationId: string, limit: number) =>
  column(db, `select id as value from sync.${table} where destination_id = $1 order by id limit $2`, [
    destinationId,
    limit,
  ]);

const admitted = async (db: CaseDb) => {
  await db.query('update sync.workers set seen_at = now()');
  const { messages, announcedAt } = await admitEntries(db, { destinationType, budget });
  return { entryIds: messages.map(({ entry_id: id }) => id), announcedAt: announcedAt! };
};

const paused = (db: CaseDb) =>
  db.query(
    `update sync.lanes set paused_until = now() + interval '1 minute', failures = 2, served_at = now() - interval '1 hour'
      where id = (select lane_id from sync.destinations where id = $1)`,
    [destinations.busy],
  );

const postponed = (db: CaseDb) =>
  db.query(
    `update sync.entries set due_at = now() + interval '1 minute', fault = 'throttled'
      where id = any(array(
        select id from sync.entries where destination_id = $1 and priority = 1 and due_at <= now() limit 500))`,
    [destinations.busy],
  );

/** The statements of sync-control in libs/sync-entries. */
export const entryCases: Case[] = casesOf('sync-control', {
  'admitting entries': (db) => admitted(db),
  'admitting entries of a type that has none': (db) =>
    admitEntries(db, { destinationType: 'cloudB-kv', budget }),
  'recording that entries were published': async (db) => markAnnounced(db, [await admitted(db)]),
  'releasing entries that were not published': async (db) => releaseAdmitted(db, await admitted(db)),
  'finding and reviving lost entries': async (db) => {
    await markAnnounced(db, [await admitted(db)]);
    await reviveEntries(db, await announcedEntries(db, destinationType, 10_000));
  },
  'reviving parked entries': (db) => reviveParkedEntries(db),
  'reviving stuck entries': (db) => reviveStuckEntries(db),
  'pushing a page again': (db) =>
    pushSomeAgain(db, destinations.busy, '', 500, { verify: false, overwrite: false }),
  'comparing a page': (db) =>
    pushSomeAgain(db, destinations.busy, '', 500, { verify: true, overwrite: true }),
  'counting what is left to be pushed again': (db) => countToPush(db, destinations.busy, '', 1_001),
  'counting what is due of a destination': (db) => countDue(db, destinations.busy, 5_000),
  'finding the lane of an account': (db) => ensureLane(db, destinationType, 'another account'),
  'lifting the pause of a lane': async (db) => {
    await paused(db);
    await postponed(db);
    await liftPause(db, destinations.busy);
  },
  'counting what is pending up to a small capacity': (db) => countPending(db, 10_000),
  'retrying a page': (db) => retryFailed(db, destinations.failed, 500),
  'retrying a page of what is postponed': async (db) => {
    await retryFailed(db, destinations.failed, 500, 'postponed');
    await countFailedBeforeRetry(db, destinations.failed, 1, 'postponed');
  },
  'retrying a page of what was refused': (db) => retryFailed(db, destinations.failed, 500, 'refused'),
  'counting what was refused': (db) => countFailedBeforeRetry(db, destinations.failed, 1, 'refused'),
  'retrying where nothing failed': (db) => retryFailed(db, destinations.busy, 500),
  'counting what is left to be retried': (db) => countFailedBeforeRetry(db, destinations.failed, 1),
  'repairing a page': async (db) => {
    await db.query(
      `update sync.entries set fault = null, drift = 'changed', applied_generation = generation, desired = 'present'
        where id in (select id from sync.entries where destination_id = $1 limit 2000)`,
      [destinations.failed],
    );
    await hasRepairable(db, destinations.failed, 1);
    await countRepairable(db, destinations.failed, 0, 1_001);
    await countUndecided(db, destinations.failed, 0, 1_001);
    const repairable = await lockRepairable(db, destinations.failed, { decisions: 1, limit: 200 });
    if (repairable.length < 200) throw new Error('no entry has drifted');
    const [first, ...others] = repairable.map(({ id }) => id);
    await contestEntries(db, [{ id: first!, error: 'undone' }]);
    await repairEntries(db, others);
  },
  'deleting a page of entries by force': (db) => deleteSomeEntries(db, destinations.deleted, 500),
  'counting the entries of a destination': (db) => countEntries(db, destinations.busy),
  'counting the wanted entries of a destination, up to a limit': (db) =>
    countWanted(db, destinations.busy, 10),
  'counting the wanted entries of a page of associations': async (db) =>
    countPresent(db, await idsOf(db, 'associations', destinations.ordinary, 200)),
  'reading the error of a purge that has none': (db) => removalError(db, destinations.inPurge),
  'reading the error of a purge of a failed destination': (db) => removalError(db, destinations.failed),
  'reading the entries of a page of associations': async (db) =>
    entriesOf(db, await idsOf(db, 'associations', destinations.busy, 500)),
  'reading a page of entries': async (db) =>
    entriesAfter(db, await idsOf(db, 'associations', destinations.busy, 101), undefined, 101),
  'reading a page of entries from the middle of an association with many keys': async (db) => {
    const [associationId] = await column(
      db,
      `select association_id as value from sync.entries where destination_id = $1 and collision_key = 'team1/app1/999'`,
      [destinations.busy],
    );
    await entriesAfter(db, [associationId!], { associationId: associationId!, subKey: '5' }, 101);
  },
  'looking for names that are taken': async (db) =>
    namesTaken(db, destinations.busy, ['team1/app1/1', 'team1/app1/9', 'free']),
  'looking which associations are pending': async (db) =>
    pendingAssociations(db, await idsOf(db, 'associations', destinations.busy, 100)),
  'adding entries': async (db) => {
    const [id] = await idsOf(db, 'associations', destinations.busy, 1);
    const entries = ['x', 'y', 'z'].map((name) => ({ subKey: name, externalName: name, collisionKey: name }));
    await insertEntries(db, { id: id!, destinationId: destinations.busy, destinationType }, entries);
  },
  'requesting that entries are pushed': async (db) =>
    requestPut(db, await idsOf(db, 'entries', destinations.busy, 500)),
  'pushing a changed secret again': async (db) => {
    const [secretId] = await column(
      db,
      'select secret_id as value from sync.associations where destination_id = $1 limit 1',
      [destinations.busy],
    );
    await pushChangedSecret(db, secretId!, [destinationType]);
  },
  'handing entries over to other keys': async (db) => {
    const ids = await idsOf(db, 'entries', destinations.busy, 500);
    await handOverEntries(
      db,
      ids.map((id) => ({ id, subKey: 'other', externalName: 'same' })),
    );
  },
  'requesting that entries are removed': async (db) => {
    const ids = await idsOf(db, 'entries', destinations.busy, 500);
    await recordReplacements(
      db,
      ids.slice(1).map((id) => ({ id, waitsFor: ids[0]! })),
    );
    await requestRemoval(
      db,
      ids.map((id) => ({ id, waitsFor: null })),
    );
  },
});

/** The statements of standalone, which has one role for everything, and of the worker of the code host. */
export const standaloneCases: Case[] = casesOf(undefined, {
  'ending all leases': (db) => endAllLeases(db),
  'making due whatever was announced': (db) => reviveAll(db),
  'starting the work in the background again': (db) => restartBackgroundWork(db),
  'reading an application': (db) => readCodehostApp(db, seededId('app500')),
});

const several = [destinations.busy, destinations.failed, destinations.ordinary];
const withStatus = (db: CaseDb, destinationId: string, ...statuses: SyncStatus[]) =>
  subKeysWithStatus(db, destinationId, statuses, { after: undefined, limit: 101 });

/** The statements of the operator's view. */
export const statusCases: Case[] = casesOf('sync-control', {
  'counting entries by status': (db) => countByStatus(db, several, 1_001),
  'counting entries by drift': async (db) => {
    await countByDrift(db, [...several, destinations.withoutSource], 1_001);
    await readInspectedAt(db, destinations.busy);
    await readInspectionAges(db, several);
  },
  'reading the queues of destinations': (db) => readQueues(db, several, 1_001),
  'reading the queues of types': (db) => readTypeQueues(db, ['cloudA-sm', 'cloudB-kv', 'none'], 1_001),
  'counting pauses of types': (db) => readTypePauses(db, ['cloudA-sm', 'cloudB-kv', 'none'], 1_001),
  'reading the health of destinations': (db) => readHealth(db, several),
  'listing the lanes of a namespace': (db) =>
    listLanes(db, 'root', { after: seededId('lane').replace(/^./, '0'), limit: 51, maxNames: 100 }),
  'finding pending entries': (db) => withStatus(db, destinations.busy, 'PENDING'),
  'finding failed entries': (db) => withStatus(db, destinations.failed, 'CLIENT_SIDE_ERROR'),
  'finding entries that have drifted': async (db) => {
    const after = { associationId: seededId('first').replace(/^./, '0'), subKey: '1' };
    await subKeysWithDrift(db, destinations.failed, ['changed'], { after, limit: 101 });
    await subKeysWithDrift(db, destinations.withoutSource, ['changed', 'missing'], {
      after: undefined,
      limit: 101,
    });
  },
  'finding synced entries': (db) => withStatus(db, destinations.withoutSource, 'SYNCED'),
  'finding entries of a status that no other has': (db) =>
    withStatus(db, destinations.busy, 'SYNCED', 'UNSYNCED', 'CLIENT_SIDE_ERROR'),
  'finding entries of several statuses on a later page': async (db) => {
    const after = { associationId: '80000000-0000-0000-0000-000000000000', subKey: '5' };
    const statuses = ['PENDING', 'SYNCED', 'CLIENT_SIDE_ERROR'] as const;
    const found = await subKeysWithStatus(db, destinations.busy, statuses, { after, limit: 101 });
    await entriesOfSubKeys(db, found);
  },
  'reading an entry by its ID': async (db) => {
    const [id] = await idsOf(db, 'entries', destinations.deleted, 1);
    await findEntry(db, id!);
  },
  'reading the history of a page of entries': async (db) =>
    readHistory(db, await idsOf(db, 'entries', destinations.deleted, 100)),
});
