export * from './error-code.ts';
export * from './fault.ts';
export * from './json.ts';
export * from './problem.ts';
