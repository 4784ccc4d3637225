export * from './assertion.ts';
export * from './built-in-policies.ts';
export * from './caller.ts';
export * from './compile-policies.ts';
export * from './internal-keys.ts';
export * from './policy-rules.ts';
export * from './request-path.ts';
export * from './token.ts';
