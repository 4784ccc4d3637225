export { abortable } from './driver/abortable.ts';
export type * from './driver/driver.ts';
export * from './driver/ownership.ts';
export { rememberedOf } from './driver/remembered-of.ts';
export { repeatIfThrottled } from './driver/repeat-if-throttled.ts';
export { requireFit } from './driver/require-fit.ts';
export { createEgressGuard, type Egress, type EgressGuard } from './egress/egress-guard.ts';
export { networkFault } from './responses/network-fault.ts';
export { malformedResponse, parseResponse } from './responses/parse-response.ts';
export {
  codedFault,
  hasCode,
  providerFault,
  refusedCredentials,
  retryAfterSeconds,
} from './responses/provider-fault.ts';
export { throwingFaults } from './responses/throwing-faults.ts';
export { identityTokens } from './runtime/identity-tokens.ts';
export { runWorker } from './runtime/run-worker.ts';
export { createSyncWorker } from './runtime/sync-worker.ts';
export { WorkerEnv } from './runtime/worker-env.ts';
