export {
  type BoundedFetch,
  bodyBytes,
  createEgressGuard,
  type Egress,
  type EgressGuard,
  readBody,
} from '@secrets/egress';
export { abortable } from './driver/abortable.ts';
export { connected } from './driver/connected.ts';
export type * from './driver/driver.ts';
export type { EntryRequest } from './driver/entry-request.ts';
export type * from './driver/look.ts';
export * from './driver/ownership.ts';
export { settingsFor } from './driver/parsed-settings.ts';
export { rememberedOf } from './driver/remembered-of.ts';
export { repeatIfThrottled } from './driver/repeat-if-throttled.ts';
export { requireSegment } from './driver/require-segment.ts';
export { type ScopeIds, ScopeMemory } from './driver/scope-memory.ts';
export { importWriter } from './look/import/import-writer.ts';
export { isEqualValue } from './look/is-pushed-value.ts';
export { networkFault } from './responses/network-fault.ts';
export { malformedResponse, parseResponse } from './responses/parse-response.ts';
export {
  type CodeKind,
  hasCode,
  providerFault,
  refusedCredentials,
  retryAfterSeconds,
} from './responses/provider-fault.ts';
export { type Refusal, refusedFault } from './responses/refusal.ts';
export { throwingFaults } from './responses/throwing-faults.ts';
export { identityTokens } from './runtime/identity-tokens.ts';
export { runWorker } from './runtime/run-worker.ts';
export { createSyncWorker } from './runtime/sync-worker.ts';
export { WorkerEnv, workerConfig, workerEnv } from './runtime/worker-env.ts';
