import { randomUUID } from 'node:crypto';
import {
  associationsDueToPush,
  cancelInspection,
  confirmInstallation,
  deferInspection,
  dueInspectionTypes,
  endedLooks,
  findRequestedInspection,
  forgetDeletedDestinations,
  giveBackBudget,
  hasWorker,
  inspectAll,
  listAwaitingNames,
  listInspectable,
  listPlacesToWaitFor,
  lockDueInspection,
  readArrivals,
  readInspectionPage,
  readInstallation,
  recordInstallation,
  recordWorker,
  reportInstallation,
  requestInspection,
  startInspectionPage,
  throttledSeconds,
  useBudget,
  useSpareBudget,
} from '@secrets/sync-entries';
import {
  countAssociatedSecrets,
  countAssociations,
  countWithUnnamedKeys,
} from '../../../../sync-control/src/queries/associations/association-counts.ts';
import * as pages from '../../../../sync-control/src/queries/associations/association-pages.ts';
import * as associations from '../../../../sync-control/src/queries/associations/associations.ts';
import * as ofSecret from '../../../../sync-control/src/queries/associations/associations-of-secret.ts';
import * as reconciliation from '../../../../sync-control/src/queries/changes/reconciliation.ts';
import * as brakes from '../../../../sync-control/src/queries/changes/removal-brakes.ts';
import * as sources from '../../../../sync-control/src/queries/changes/source-marks.ts';
import * as apps from '../../../../sync-control/src/queries/destinations/codehost-apps.ts';
import * as checks from '../../../../sync-control/src/queries/destinations/destination-checks.ts';
import * as marks from '../../../../sync-control/src/queries/destinations/destination-marks.ts';
import * as stored from '../../../../sync-control/src/queries/destinations/destinations.ts';
import * as purges from '../../../../sync-control/src/queries/destinations/purges.ts';
import * as repairs from '../../../../sync-control/src/queries/destinations/repairs.ts';
import * as replans from '../../../../sync-control/src/queries/destinations/replans.ts';
import * as reads from '../../../../sync-control/src/queries/destinations/store-reads.ts';
import * as progress from '../../../../sync-control/src/queries/event-progress.ts';
import * as events from '../../../../sync-control/src/queries/events.ts';
import { recordRecoveryToken } from '../../../../sync-control/src/queries/recovery-event.ts';
import { resetSyncConfig, updateSyncConfig } from '../../../../sync-control/src/queries/sync-config.ts';
import type { CaseDb } from '../measured-db.ts';
import { type Case, casesOf, column, destinations, seededId } from './cases.ts';

const associationsOf = (db: CaseDb, destinationId: string, limit: number) =>
  column(db, 'select id as value from sync.associations where destination_id = $1 order by id limit $2', [
    destinationId,
    limit,
  ]);
const associationOf = async (db: CaseDb, destinationId: string) =>
  (await associationsOf(db, destinationId, 1))[0]!;

const toRemove = { after: pages.beforeFirst, limit: 200 };

const awaited = (secretName: string) => ({ namespaceId: 'root', mount: 'kv', secretName, version: 1 });

const associationCases: Case[] = casesOf('sync-control', {
  'counting the associations of a destination': (db) => countAssociations(db, destinations.busy, 1_001),
  'listing destinations of all namespaces': (db) =>
    stored.listAllDestinations(db, { after: seededId('destination500'), limit: 10 }),
  'counting the associations of a namespace': (db) => countAssociatedSecrets(db, 'root', 1_001),
  'reading a page of associations': (db) =>
    pages.listAssociations(db, destinations.inPurge, { after: undefined, limit: 101 }),
  'finding associations with keys that cannot be synced': async (db) => {
    const all = { after: pages.beforeFirst, limit: 101 };
    const ids = await pages.listIdsWithUnnamedKeys(db, destinations.ordinary, all);
    await pages.listAssociationsById(db, ids);
    await pages.listIdsWithUnnamedKeys(db, destinations.busy, all);
  },
  'a page of associations that wait for names': (db) =>
    listAwaitingNames(db, { after: pages.beforeFirst, limit: 20 }),
  'counting associations with keys that cannot be synced': (db) =>
    countWithUnnamedKeys(db, [destinations.busy, destinations.ordinary], 1_001),
  'finding the association of a secret by its mount': (db) =>
    associations.findAssociationByMount(db, destinations.busy, 'kv', 'team7/app7'),
  'a page of a purge': (db) => pages.lockSomeToRemove(db, destinations.inPurge, null, toRemove),
  'a page of a purge of what is due to be pushed': async (db) => {
    const ids = await associationsDueToPush(db, destinations.busy, 200);
    await pages.lockSomeToRemove(db, destinations.busy, ids, toRemove);
  },
  'a page of a purge that has just begun': (db) =>
    pages.lockSomeToRemove(db, destinations.busy, null, toRemove),
  'one association of a purge': async (db) => {
    const [id] = await pages.listSomeToRemove(db, destinations.inPurge, toRemove);
    await pages.lockSomeToRemove(db, destinations.inPurge, [id ?? randomUUID()], toRemove);
  },
  'a page of a replan': async (db) => {
    await pages.listAssociationsToReplan(db, destinations.busy, { after: pages.beforeFirst, limit: 50 });
    await pages.countToReplan(db, destinations.busy, pages.beforeFirst, 1_001);
  },
  'deleting a page of associations by force': (db) =>
    pages.deleteSomeAssociations(db, destinations.deleted, 500),
  'finding the associations of a secret': (db) =>
    ofSecret.listAssociationIdsOfSecret(db, seededId('secret1')),
  'following a secret': async (db) => {
    const id = await associationOf(db, destinations.busy);
    const [secretId] = await column(db, 'select secret_id as value from sync.associations where id = $1', [
      id,
    ]);
    await ofSecret.lockFollowed(db, id, secretId!);
    await ofSecret.isPlanLost(db, id);
    await ofSecret.recordPlan(db, id, 7, [{ key: 'k', reason: 'r' }]);
    await ofSecret.recordNamingScheme(db, id, { template: 'x', granularity: 'secret-key' });
  },
  'reading where a secret is synced to': (db) =>
    ofSecret.listAssociationsByName(
      db,
      'root',
      { mount: 'kv', secretName: 'team1/app1' },
      { after: pages.beforeFirst, limit: 11 },
    ),
  'reading where a rare secret is synced to': (db) =>
    ofSecret.listAssociationsByName(
      db,
      'root',
      { mount: 'kv', secretName: 'team0/app90000' },
      { after: pages.beforeFirst, limit: 1_001 },
    ),
  'reading whether a version has arrived': (db) => readArrivals(db, awaited('team2/app2')),
  'waiting for versions': (db) =>
    listPlacesToWaitFor(db, ['team2/app2', 'team0/app90000', 'missing'].map(awaited)),
  'listing associated secrets': (db) =>
    ofSecret.listAssociatedSecretRows(db, 'root', { after: { mount: '', secretName: '' }, limit: 100 }),
  'listing associated secrets after most others': (db) =>
    ofSecret.listAssociatedSecretRows(db, 'root', {
      after: { mount: 'kv', secretName: 'team7' },
      limit: 100,
    }),
  'setting a new association': (db) => upsert(db, 'new'),
  'setting an existing association': (db) => upsert(db, 'team1/app1'),
  'removing an association': (db) => associations.lockAssociation(db, destinations.busy, 'kv', 'team7/app7'),
  'waiting for an association': async (db) =>
    associations.findAssociation(db, await associationOf(db, destinations.busy)),
  'reading the association of an entry': async (db) =>
    associations.findAssociationIn(db, 'root', await associationOf(db, destinations.busy)),
  'planning an association': (db) =>
    associations.findAssociationOfSecret(db, destinations.busy, 'kv_1', 'team7/app7'),
  'marking associations for removal': async (db) =>
    associations.markRemoving(db, await associationsOf(db, destinations.busy, 200)),
  'deleting associations without entries': async (db) =>
    associations.deleteAssociations(db, await associationsOf(db, destinations.ordinary, 10)),
});

const upsert = (db: CaseDb, secretName: string) =>
  associations.upsertAssociation(db, {
    destinationId: destinations.busy,
    namespaceId: 'root',
    mountId: seededId('mount'),
    mount: 'kv',
    accessor: 'kv_1',
    secretId: seededId('secret1'),
    secretName,
    revision: 1,
    shape: { template: '', granularity: 'secret-path' },
    naming: null,
    byHand: true,
  });

const key = { namespaceId: 'root', type: 'cloudA-sm', name: 'd21' };
const settings = { settings: {}, given: {}, sealedCredentials: null, codehostAppId: null };
const laneOf = async (db: CaseDb) => (await column(db, 'select id as value from sync.lanes limit 1'))[0]!;

const destinationCases: Case[] = casesOf('sync-control', {
  'finding a destination': (db) => stored.findDestination(db, key),
  'reading the granularity of a destination': (db) => stored.findGranularity(db, destinations.busy),
  'locking a destination': (db) => stored.lockDestination(db, key),
  'creating a destination': async (db) =>
    stored.insertDestination(db, {
      ...key,
      ...settings,
      id: randomUUID(),
      name: 'new',
      namespacePath: '',
      laneId: await laneOf(db),
    }),
  'updating a destination': async (db) =>
    stored.updateDestination(db, { ...settings, id: destinations.busy, laneId: await laneOf(db) }),
  'confirming a scope': (db) => stored.recordScope(db, destinations.ordinary, '1002'),
  'confirming members of a scope': (db) => stored.forgetScopeMembers(db, destinations.ordinary),
  'deleting a destination without entries': async (db) => {
    const id = randomUUID();
    const row = { ...key, ...settings, id, name: 'new', namespacePath: '', laneId: await laneOf(db) };
    await stored.insertDestination(db, row);
    await stored.deleteDestinationRow(db, id);
  },
  'listing destinations': (db) =>
    stored.listDestinationNames(db, 'root', 'cloudA-sm', { after: 'd5', limit: 100 }),
  'listing destinations of all types': (db) =>
    stored.listDestinationOverviews(db, 'root', { after: { type: 'cloudA-sm', name: 'd5' }, limit: 51 }),
  'counting destinations': (db) => stored.countDestinations(db, 'root', ['cloudA-sm', 'cloudB-kv'], 1_001),
  'finding work on whole destinations': (db) => marks.listMarkedDestinations(db),
  'locking a destination in purge': (db) => marks.lockMarked(db, destinations.inPurge, 'purge_initiated_at'),
  'locking a deleted destination': (db) =>
    marks.lockMarked(db, destinations.deleted, 'deleted_at', { toDelete: true }),
  'locking a destination that is retried': (db) =>
    marks.lockMarked(db, destinations.failed, 'retry_initiated_at'),
  'forgetting deleted destinations': (db) => forgetDeletedDestinations(db, 100),
  'deleting a destination by force': (db) => marks.initiateDeletion(db, destinations.busy),
  'starting and ending a retry': async (db) => {
    await marks.initiateRetry(db, destinations.busy, { all: true });
    await marks.isRetryOfAll(db, destinations.busy);
    await marks.endRetry(db, destinations.busy);
    await marks.initiateRetryOfRivals(db, destinations.beside);
  },
  'starting and ending a push': async (db) => {
    await marks.initiatePush(db, destinations.busy);
    await marks.readPush(db, destinations.busy);
    await marks.recordPushPosition(db, destinations.busy, null);
    await marks.recordBackgroundError(db, destinations.busy, 'refused');
  },
  'starting and ending a replan': async (db) => {
    await replans.initiateReplan(db, destinations.busy);
    const lease = (await replans.claimReplan(db, destinations.busy))!;
    await replans.recordReplanned(db, lease, null, { refused: 0, error: null });
    await replans.releaseReplan(db, destinations.busy);
  },
  'starting and ending a purge': async (db) => {
    await purges.initiatePurge(db, destinations.busy, { keep: false });
    await purges.recordPurgePosition(db, destinations.busy, seededId('association'));
    await purges.recordPurgeError(db, destinations.busy, 'refused');
    await purges.endPurge(db, destinations.busy);
  },
});

const appKey = { namespaceId: 'root', name: 'app500' };
const appRow = {
  ...{ id: seededId('app500'), appId: 1, fingerprint: 'f', enterpriseUrl: '' },
  sealedPrivateKey: Buffer.from('k'),
};

const codehostAppCases: Case[] = casesOf('sync-control', {
  'finding an application': async (db) => {
    await apps.findCodehostApp(db, appKey);
    await apps.lockCodehostApp(db, appKey, 'key share');
  },
  'creating and deleting an application': async (db) => {
    const id = randomUUID();
    await apps.insertCodehostApp(db, { ...appRow, ...appKey, id, name: 'new' });
    await apps.deleteCodehostAppRow(db, id);
  },
  'updating an application': async (db) => {
    await apps.updateCodehostApp(db, appRow);
    await apps.listAppsToReconnect(db);
    const after = (await apps.lockReconnect(db, appRow.id))!;
    const ids = await apps.reconnectSomeUsers(db, appRow.id, { after, limit: 20 });
    await apps.recordReconnected(db, appRow.id, ids.at(-1)!);
  },
  'listing applications': (db) => apps.listCodehostAppNames(db, 'root', { after: 'app5', limit: 100 }),
  'listing the destinations that use an application': (db) => apps.listUsersOfCodehostApp(db, appRow.id, 6),
});

/** Has no check that runs. */
const unchecked = seededId('destination150');

const checkCases: Case[] = casesOf('sync-control', {
  'requesting a check': async (db) => {
    await hasWorker(db, 'cloudA-sm');
    await throttledSeconds(db, unchecked);
    await checks.endOverdueCheck(db, unchecked);
    await useBudget(db, unchecked, 3, { perSecond: 50, burst: 50 });
    const check = {
      destinationId: unchecked,
      destinationType: 'cloudA-sm',
      externalName: 'n',
      seconds: 1,
    };
    const id = await checks.insertCheck(db, check);
    await checks.findCheckProgress(db, id);
    await checks.deleteUnstartedCheck(db, id);
    await giveBackBudget(db, unchecked, 3, { burst: 50 });
  },
  'confirming the installation': async (db) => {
    await recordInstallation(db, { name: 'prod' });
    await reportInstallation(db, 'copy');
    await confirmInstallation(db, { name: 'copy' });
    await readInstallation(db);
    await inspectAll(db);
  },
  'looking at the external secrets of an association': async (db) => {
    const [associationId = ''] = await column(
      db,
      'select association_id as value from sync.entries where destination_id = $1 limit 1',
      [unchecked],
    );
    const requested = await listInspectable(db, associationId, 101);
    await useSpareBudget(db, unchecked, 1, { perSecond: 50, burst: 50 });
    await endedLooks(db, requested);
  },
  'asking for a read of a store': async (db) => {
    const question = { after: { page: null, name: '' }, limit: 1 };
    const asked = { destinationId: unchecked, destinationType: 'cloudA-sm', question, seconds: 1 };
    const id = await reads.insertStoreRead(db, asked);
    await reads.findStoreRead(db, id);
    await reads.deleteStoreRead(db, id);
  },
  'a page of old reads of stores': (db) => reads.deleteOldStoreReads(db, 100),
  'a page of looks at everything': async (db) => {
    await recordWorker(db, { id: 'w1', destinationType: 'cloudA-sm', slots: 50 });
    await dueInspectionTypes(db);
    const { destinationId } = (await lockDueInspection(db, 'cloudA-sm'))!;
    const page = { after: '', limit: 200, sinceSeconds: 60 };
    for (const id of [destinationId, destinations.busy]) await readInspectionPage(db, id, page);
    await startInspectionPage(db, destinationId, { id: randomUUID(), end: 'k', seen: 200 });
    await deferInspection(db, destinationId, 1_000);
  },
  'a look at everything on request': async (db) => {
    await requestInspection(db, destinations.busy);
    await findRequestedInspection(db, destinations.busy);
    await cancelInspection(db, destinations.busy);
  },
  'a page of probes that were left behind': async (db) => {
    const left = await checks.claimLeftProbes(db, 100);
    await checks.deleteChecks(
      db,
      left.map(({ checkId }) => checkId),
    );
  },
  'a page of old checks': (db) => checks.deleteOldChecks(db, 100),
});

const owner = randomUUID();

const reconciliationCases: Case[] = casesOf('sync-control', {
  'a round of reconciliation': async (db) => {
    await reconciliation.claimReconciliation(db, owner, 300);
    await reconciliation.recordPosition(db, owner, pages.beforeFirst);
    await reconciliation.endRound(db, owner);
    await reconciliation.releaseReconciliation(db, owner);
  },
  'the first page of reconciliation': (db) =>
    reconciliation.listPlannedRevisions(db, { after: pages.beforeFirst, limit: 500 }),
  'a later page of reconciliation': (db) =>
    reconciliation.listPlannedRevisions(db, { after: '80000000-0000-0000-0000-000000000000', limit: 500 }),
  'a page of reconciliation where associations are being removed': (db) =>
    reconciliation.listPlannedRevisions(db, { after: 'eeee0000-0000-0000-0000-000000000000', limit: 500 }),
  'a page of reconciliation where a destination was deleted by force': (db) =>
    reconciliation.listPlannedRevisions(db, { after: 'ffff0000-0000-0000-0000-000000000000', limit: 500 }),
  'marking associations whose sources are gone': async (db) => {
    const rows = await db.query<{ associationId: string; secretId: string }>(
      `select id as "associationId", secret_id as "secretId" from sync.associations
        where destination_id = $1 order by id limit 200`,
      [destinations.busy],
    );
    await sources.markSourcesGone(
      db,
      rows.map((row) => ({ ...row, removals: 1 })),
    );
  },
  'locking associations whose sources are gone': async (db) =>
    sources.lockAssociations(db, await associationsOf(db, destinations.busy, 200)),
  'clearing the marks of associations': async (db) =>
    sources.clearSourceMarks(db, await associationsOf(db, destinations.withoutSource, 200)),
  'finding destinations with marks': (db) => sources.listDestinationsToSettle(db),
  'finding destinations whose marks are at rest': (db) => sources.listDestinationsAtRest(db),
  'a page of approved removals': (db) =>
    sources.listApprovedAssociations(db, destinations.withoutSource, 'infinity', {
      after: sources.beforeFirstMark,
      limit: 500,
    }),
  'a page of approved removals where few are marked': (db) =>
    sources.listApprovedAssociations(db, destinations.busy, 'infinity', {
      after: sources.beforeFirstMark,
      limit: 500,
    }),
  'braking removals': async (db) => {
    await brakes.lockBrake(db, destinations.withoutSource);
    await brakes.beginCounting(db, destinations.withoutSource);
    await brakes.endCounting(db, destinations.withoutSource);
    await brakes.recordEntryCount(db, destinations.withoutSource, 100);
    await brakes.recordRemoved(db, destinations.withoutSource, 10);
    await brakes.holdRemovals(db, destinations.withoutSource);
    await brakes.releaseHold(db, destinations.withoutSource);
    await brakes.approveRemovals(db, destinations.withoutSource, 'infinity');
  },
  'confirming held removals': (db) => brakes.approveRemovalsIfHeld(db, destinations.withoutSource),
  'looking whether a removal is approved': async (db) =>
    brakes.isRemovalApproved(db, await associationOf(db, destinations.withoutSource), 1),
  'finding and ending approvals': async (db) => {
    await brakes.listApprovedDestinations(db);
    await brakes.endApproval(db, destinations.withoutSource, 'infinity');
  },
  'reading held removals': (db) => brakes.findHeldRemovals(db, destinations.withoutSource),
  'reading the held removals of several destinations': (db) =>
    brakes.listHeldRemovals(db, [destinations.withoutSource, destinations.busy], 1_001),
  'counting destinations with held removals': (db) => brakes.countHeld(db),
  'deciding about repairs': async (db) => {
    await repairs.listDestinationsToRepair(db);
    await repairs.lockRepairs(db, destinations.failed);
    await repairs.startPass(db, destinations.failed);
    await repairs.holdRepairs(db, destinations.failed);
    await repairs.listHeldRepairs(db, [destinations.failed, destinations.busy]);
    await repairs.countHeldRepairs(db);
    await repairs.approveRepairsIfHeld(db, destinations.failed);
    await repairs.approveRepairs(db, destinations.failed);
    await repairs.endRepairs(db, destinations.failed);
    await repairs.forgetRepairs(db, destinations.failed);
  },
  'changing the configuration': (db) => updateSyncConfig(db, { disabled: false, queueCapacity: undefined }),
  'resetting the configuration': (db) => resetSyncConfig(db),
});

const beginning = { xid: 0n, id: 0n, second: 1 };

const eventCases: Case[] = casesOf('sync-control', {
  'recording a recovery token': (db) => recordRecoveryToken(db),
  'reading a page of events': async (db) => {
    await events.readEvents(db, { after: beginning, limit: 200, namespaceIds: ['root'] });
    const after = await events.readEventHorizon(db);
    await events.readEvents(db, { after, limit: 200, namespaceIds: ['root'] });
  },
  'counting and deleting events': async (db) => {
    await progress.forgetCopiedEvents(db, 500);
    await progress.countSomeEvents(db, 500);
    await progress.sweepSomeEvents(db, { seconds: 3_600, events: 10 }, 500);
    await progress.sweepSomeEvents(db, { seconds: 3_600, events: 10_000_000 }, 500);
    await progress.sweepOutcomeMinutes(db, 65);
  },
  'reading the outcomes of the last hour': (db) => progress.readOutcomeMinutes(db, 'root', 61),
});

/** The statements in services/sync-control. */
export const syncControlCases: Case[] = [
  ...associationCases,
  ...destinationCases,
  ...codehostAppCases,
  ...checkCases,
  ...reconciliationCases,
  ...eventCases,
];
