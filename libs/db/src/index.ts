export * from './db.ts';
export * from './migrate.ts';
export * from './open-embedded.ts';
export * from './open-postgres.ts';
export * from './prepare.ts';
