import { randomUUID } from 'node:crypto';
import {
  answerStoreRead,
  areDeletedDestinations,
  type ClaimedEntry,
  claimCheck,
  claimEntries,
  claimStoreRead,
  completeEntries,
  completeRemoval,
  confirmClaims,
  endCheck,
  endInspectionPage,
  endUnstartedCheck,
  failEntry,
  findInspectable,
  findLeftProbe,
  findListed,
  forgetPutStart,
  forgetWorker,
  giveBackBudget,
  listLeftProbes,
  lockedEntries,
  lockName,
  mayBeLookedAt,
  postponeEntry,
  readEntryContexts,
  readRemembered,
  readSealedValue,
  readSyncConfig,
  recordFailedLook,
  recordLeftProbeRemoved,
  recordListed,
  recordLook,
  recordProbePut,
  recordProbeRemoved,
  recordProbeStart,
  recordPutStart,
  recordRemote,
  recordSlowDestination,
  recordWorker,
  releaseClaim,
  rememberScope,
  rememberScopeMembers,
  reportInstallation,
  reportToLane,
  shortenLease,
  verifyAgain,
  wakeRivals,
} from '@secrets/sync-entries';
import type { CaseDb } from '../measured-db.ts';
import { type Case, casesOf, column, destinations, seededId } from './cases.ts';

const destinationType = 'cloudA-sm';

const dueEntries = (db: CaseDb, destinationId: string, limit: number) =>
  column(
    db,
    `select id as value from sync.entries where destination_id = $1 and priority = 0 and due_at <= now() order by due_at limit $2`,
    [destinationId, limit],
  );

async function claimed(
  db: CaseDb,
  limit = 1,
  destinationId: string = destinations.busy,
  type = destinationType,
): Promise<ClaimedEntry[]> {
  const entryIds = await dueEntries(db, destinationId, limit);
  return claimEntries(db, { entryIds, destinationType: type, owner: randomUUID(), leaseSeconds: 30 });
}

const laneOf = async (db: CaseDb, destinationId: string) =>
  (await column(db, 'select lane_id as value from sync.destinations where id = $1', [destinationId]))[0]!;

const achieved = { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: null } as const;

/** Returns an entry that was just achieved, as a look begins. */
async function inspectable(db: CaseDb) {
  const [held] = await claimed(db);
  await completeEntries(db, [{ held: held!, achieved }]);
  return (await findInspectable(db, held!.id))!;
}

/** The statements of a worker. */
export const workerCases: Case[] = casesOf('sync-worker-clouda-sm', {
  'comparing waiting claims': async (db) =>
    confirmClaims(
      db,
      (await claimed(db, 16)).map((entry) => ({ entry, destinationRevision: '1' })),
    ),
  'undoing a claim': async (db) => releaseClaim(db, (await claimed(db))[0]!),
  'completing a batch': async (db) =>
    completeEntries(
      db,
      (await claimed(db, 16)).map((held) => ({ held, achieved })),
    ),
  'completing one entry': async (db) => completeEntries(db, [{ held: (await claimed(db))[0]!, achieved }]),
  'completing a removal': async (db) => completeRemoval(db, (await claimed(db, 1, destinations.inPurge))[0]!),
  'recording a failure': async (db) =>
    failEntry(db, (await claimed(db))[0]!, {
      status: 'EXTERNAL_SERVICE_ERROR',
      fault: 'unavailable',
      error: 'unavailable',
      retryInSeconds: 5,
    }),
  'reading the contexts of a batch': async (db) =>
    readEntryContexts(db, await dueEntries(db, destinations.busy, 16)),
  'finding deleted destinations': (db) => areDeletedDestinations(db, [destinations.ordinary]),
  'remembering members of a scope': (db) =>
    rememberScopeMembers(db, destinations.ordinary, { web: '1001', api: '1002' }),
  'remembering a scope': (db) => rememberScope(db, destinations.ordinary, '1001'),
  'reading what entries remember': async (db) => {
    const names = await column(
      db,
      'select collision_key as value from sync.entries where destination_id = $1 limit 100',
      [destinations.ordinary],
    );
    await readRemembered(
      db,
      names.map((collisionKey) => ({ destinationId: destinations.ordinary, collisionKey })),
    );
  },
  'reading a large value': async (db) =>
    readSealedValue(db, (await dueEntries(db, destinations.busy, 1))[0]!, randomUUID()),
  'recording that a put has started': async (db) => recordPutStart(db, (await claimed(db))[0]!),
  'recording what a put has begun': async (db) => recordRemote(db, (await claimed(db))[0]!, { id: 1 }),
  'forgetting the start of a put': async (db) => forgetPutStart(db, (await claimed(db))[0]!),
  'shortening a lease': async (db) => shortenLease(db, (await claimed(db))[0]!, 1),
  'verifying entries after their claims were lost': async (db) => {
    const lost = (await dueEntries(db, destinations.busy, 16)).map((id) => ({ id, fence: -1 }));
    await verifyAgain(db, lost);
  },
  'looking for locked entries': async (db) => lockedEntries(db, await dueEntries(db, destinations.busy, 16)),
  'postponing an entry': async (db) => postponeEntry(db, (await dueEntries(db, destinations.busy, 1))[0]!),
  'reading the configuration': async (db) => {
    await reportInstallation(db, 'copy');
    await readSyncConfig(db);
  },
  'reporting that a destination is slow': (db) => recordSlowDestination(db, destinations.busy),
  'reporting a throttled call': async (db) =>
    reportToLane(
      db,
      { laneId: await laneOf(db, destinations.shared), destinationId: destinations.shared },
      { kind: 'failed', fault: 'throttled', retryAfterSeconds: undefined },
      { tookMs: 0, random: 0 },
    ),
  'running a check': async (db) => {
    const check = seededId('check7001');
    await endUnstartedCheck(db, seededId('check7002'));
    await claimCheck(db, check);
    await recordProbeStart(db, check);
    await recordProbePut(db, check, { id: 1 });
    await recordProbeRemoved(db, check);
    await endCheck(db, check, []);
  },
  'recording what a list shows': async (db) => {
    const held = await claimed(db, 16);
    await completeEntries(
      db,
      held.map((one) => ({ held: one, achieved })),
    );
    const ids = held.map(({ id }) => id);
    await recordListed(db, await findListed(db, ids));
  },
  'looking at an external secret': async (db) => {
    const entry = await inspectable(db);
    await mayBeLookedAt(db, destinations.busy);
    await recordFailedLook(db, entry, 'no');
    const changed = { drift: 'changed', evidence: 'value', status: 'CLIENT_SIDE_ERROR', error: 'x' } as const;
    await recordLook(db, entry, changed);
    await giveBackBudget(db, destinations.busy, 12);
    await endInspectionPage(db, { destinationId: destinations.busy, pageId: seededId('page') }, 'complete');
  },
  'reading from a store': async (db) => {
    await claimStoreRead(db, seededId('read7001'));
    await answerStoreRead(db, seededId('read7001'), { secrets: [], next: null });
  },
  'removing a probe that was left behind': async (db) => {
    await findLeftProbe(db, seededId('check1'));
    await listLeftProbes(db, destinations.ordinary, 3);
    await recordLeftProbeRemoved(db, seededId('check1'));
  },
  'recording that a worker is alive': (db) => recordWorker(db, { id: 'w1', destinationType, slots: 16 }),
  'forgetting a worker': (db) => forgetWorker(db, 'w1', destinationType),
});

/** The statements of a worker whose store does not show which destination wrote a secret. */
export const placeCases: Case[] = casesOf('sync-worker-codehost', {
  'reading the contexts of entries with rivals': async (db) => {
    const contexts = await readEntryContexts(db, await dueEntries(db, destinations.beside, 16));
    if (![...contexts.values()].every(({ place }) => place.rival?.isHolder))
      throw new Error('no rival was found');
  },
  'locking an external name': async (db) => {
    const [id] = await dueEntries(db, destinations.beside, 1);
    if (!(await lockName(db, id!))?.isHolder) throw new Error('no rival was found');
  },
  'making room beside another destination': async (db) => {
    const [held] = await claimed(db, 1, destinations.beside, 'codehost');
    await completeEntries(db, [{ held: held!, achieved: { ...achieved, pushedHash: null } }]);
  },
  'waking the rivals of an entry': (db) => wakeRivals(db, destinations.beside, ['K1']),
});
