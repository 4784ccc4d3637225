export * from './audit.ts';
export * from './logger.ts';
export * from './metrics.ts';
