export * from './claim-entries.ts';
export * from './codehost-app.ts';
export * from './complete-entries.ts';
export { confirmClaims, type WaitingClaim } from './confirm-claims.ts';
export * from './destination-checks.ts';
export * from './destination-entries.ts';
export * from './entry.ts';
export * from './entry-context.ts';
export * from './find-entries.ts';
export { type Outcome, readHistory } from './history.ts';
export * from './leases.ts';
export * from './locked-entries.ts';
export { pushChangedSecret } from './push-changed-secret.ts';
export * from './queue-state.ts';
export { insertEntries, type NewEntry, type Origin, requestPut, requestRemoval } from './record-intents.ts';
export {
  ensureLane,
  giveBackBudget,
  type LaneOfDestination,
  liftPause,
  recordSlowDestination,
  reportToLane,
  throttledSeconds,
  useBudget,
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
export { forgetWorker, hasWorker, liveTypes, recordWorker } from './scheduling/workers.ts';
export { countByStatus } from './status/count-by-status.ts';
export { type DestinationHealth, readHealth } from './status/health-of-destinations.ts';
export { listLanes, type NamespaceLane } from './status/lanes-of-namespace.ts';
export { type DestinationQueue, readQueues } from './status/queue-of-destinations.ts';
export { readTypeQueues } from './status/queue-of-types.ts';
