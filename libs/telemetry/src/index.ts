export * from './audit/audit.ts';
export * from './logger.ts';
export * from './metrics.ts';
export { logFailure, logOutage } from './outages.ts';
export { startTracing } from './traces/start-tracing.ts';
export { currentSpan, type Span, traced, traceparent } from './traces/traces.ts';
