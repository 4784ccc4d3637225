export * from './db.ts';
export { openEmbedded } from './embedded/open-embedded.ts';
export { startEmbeddedServer } from './embedded/server.ts';
export { holdLock } from './hold-lock.ts';
export * from './migrate.ts';
export * from './open-postgres.ts';
export * from './prepare.ts';
export * from './start-error.ts';
export { checkDatabase } from './writable.ts';
