export * from './assertion.ts';
export * from './caller.ts';
export * from './internal-keys.ts';
export * from './require-grant.ts';
