export * from './problem.ts';
export * from './error-code.ts';
