export * from './awaited-names.ts';
export * from './claims/claim-entries.ts';
export * from './claims/complete-entries.ts';
export { confirmClaims, type WaitingClaim } from './claims/confirm-claims.ts';
export * from './claims/entry-context.ts';
export { type Outcome, readHistory } from './claims/history.ts';
export * from './claims/leases.ts';
export * from './claims/locked-entries.ts';
export * from './claims/remembered-remotes.ts';
export { isInSamePlace, lockName, type Rival, wakeRivals } from './claims/rivals.ts';
export * from './claims/verify-again.ts';
export * from './codehost-app.ts';
export { areDeletedDestinations, forgetDeletedDestinations } from './deleted-destinations.ts';
export * from './destination-checks.ts';
export * from './entry.ts';
export * from './find-entries.ts';
export * from './intents/destination-entries.ts';
export { pushChangedSecret } from './intents/push-changed-secret.ts';
export {
  type HandedOver,
  handOverEntries,
  insertEntries,
  insertEntriesOf,
  type NewEntry,
  type Origin,
  type RemovalIntent,
  recordReplacements,
  requestPut,
  requestRemoval,
} from './intents/record-intents.ts';
export {
  contestEntries,
  countRepairable,
  countUndecided,
  hasRepairable,
  lockRepairable,
  type RepairableEntry,
  rememberedHours,
  repairEntries,
} from './intents/repair-entries.ts';
export * from './queue-state.ts';
export { rememberScope, rememberScopeMembers } from './remember-scope.ts';
export { entryDeadlines } from './scheduling/deadlines.ts';
export * from './scheduling/installation.ts';
export {
  ensureLane,
  giveBackBudget,
  keptCalls,
  type LaneOfDestination,
  liftPause,
  recordSlowDestination,
  reportToLane,
  throttledSeconds,
  useBudget,
  useSpareBudget,
} from './scheduling/lanes.ts';
export * from './scheduling/lost-announcements.ts';
export * from './scheduling/postpone.ts';
export {
  type AdmissionRecord,
  type AdmittedEntries,
  admitEntries,
  markAnnounced,
  releaseAdmitted,
} from './scheduling/schedule.ts';
export { reviveStuckEntries } from './scheduling/stuck-entries.ts';
export { forgetWorker, hasWorker, liveTypes, recordWorker } from './scheduling/workers.ts';
export { isSyncing } from './sql-fragments.ts';
export {
  type Arrival,
  type AwaitedVersion,
  listPlacesToWaitFor,
  maxArrivals,
  readArrivals,
} from './status/arrivals.ts';
export { countByDrift } from './status/count-by-drift.ts';
export { countByStatus } from './status/count-by-status.ts';
export { type DestinationHealth, readHealth } from './status/health-of-destinations.ts';
export {
  cancelInspection,
  deferInspection,
  dueInspectionTypes,
  endInspectionPage,
  findRequestedInspection,
  type Inspection,
  inspectAll,
  lockDueInspection,
  readInspectedAt,
  readInspectionAges,
  readInspectionPage,
  requestInspection,
  type SeenEntry,
  startInspectionPage,
} from './status/inspections.ts';
export { listLanes, type NamespaceLane } from './status/lanes-of-namespace.ts';
export {
  type EndedLook,
  endedLooks,
  findInspectable,
  findListed,
  type Inspectable,
  type InspectedEntry,
  type ListedEntry,
  type LookOutcome,
  listInspectable,
  mayBeLookedAt,
  recordFailedLook,
  recordListed,
  recordLook,
  settlingMinutes,
} from './status/looks.ts';
export { type DestinationQueue, readQueues } from './status/queue-of-destinations.ts';
export { readTypePauses, readTypeQueues } from './status/queue-of-types.ts';
export { answerStoreRead, claimStoreRead, type StoreRead } from './status/store-reads.ts';
