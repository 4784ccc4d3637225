export * from './assertion.ts';
export * from './caller.ts';
export * from './caller-token.ts';
export * from './internal-keys.ts';
export * from './permit.ts';
export * from './require-grant.ts';
export * from './signature-lifetime.ts';
export * from './signed-bytes.ts';
