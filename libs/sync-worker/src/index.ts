export * from './driver/driver.ts';
export * from './driver/value-size.ts';
export * from './egress/egress-guard.ts';
export * from './entry/clients.ts';
export * from './limits/retry-policy.ts';
export * from './runtime/run-worker.ts';
export * from './runtime/sync-worker.ts';
