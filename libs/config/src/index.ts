export * from './env-files.ts';
export * from './read-config.ts';
