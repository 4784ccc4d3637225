export * from './audit/audit.ts';
export * from './logger.ts';
export * from './metrics.ts';
