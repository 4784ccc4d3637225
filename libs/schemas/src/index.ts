import { fileURLToPath } from 'node:url';
import type { Migrations } from '@secrets/db';

/** The folder is next to `src` in this package, and next to the bundled program in an image. */
const migrationsOf = (schema: string): Migrations => ({
  schema,
  folder: fileURLToPath(new URL(`../migrations/${schema}`, import.meta.url)),
});

/** The schemas of the database. `sync` belongs to sync-control, the others to the service of that name. */
export const schemas = {
  login: migrationsOf('login'),
  secrets: migrationsOf('secrets'),
  sync: migrationsOf('sync'),
};

/**
 * The schemas of the services in the order of their references: `secrets` and `sync` refer to `login`, and `sync` to `secrets`.
 */
export const serviceSchemas: readonly Migrations[] = [schemas.login, schemas.secrets, schemas.sync];
