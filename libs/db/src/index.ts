export * from './db.ts';
export { openEmbedded } from './embedded/open-embedded.ts';
export { type EmbeddedServer, startEmbeddedServer } from './embedded/server.ts';
export { DatabaseStartError } from './embedded/start-error.ts';
export { type HeldLock, holdLock } from './hold-lock.ts';
export * from './migrate.ts';
export * from './open-postgres.ts';
export * from './prepare.ts';
