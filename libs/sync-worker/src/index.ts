export * from './clients.ts';
export * from './driver.ts';
export * from './egress-guard.ts';
export * from './next-attempt.ts';
export * from './run-worker.ts';
export * from './sync-worker.ts';
export * from './value-size.ts';
