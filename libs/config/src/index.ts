export * from './read-config.ts';
export * from './read-files.ts';
