export * from './error-code.ts';
export * from './fault.ts';
export * from './json.ts';
export * from './problem.ts';
export * from './sync-status.ts';
export * from './messages.ts';
export * from './secret-version.ts';
