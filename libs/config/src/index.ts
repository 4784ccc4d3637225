export * from './read-config.ts';
