import { fileURLToPath } from 'node:url';
import type { Migrations } from '@secrets/db';

/** Beside the sources of this package, and beside the program in an image. */
const migrationsOf = (schema: string): Migrations => ({
  schema,
  folder: fileURLToPath(new URL(`../migrations/${schema}`, import.meta.url)),
});

/** Each schema of the database, by name; the service of that name owns it. `broker` is the in-process broker's. */
export const schemas = {
  login: migrationsOf('login'),
  secrets: migrationsOf('secrets'),
  sync: migrationsOf('sync'),
  broker: migrationsOf('broker'),
};

/** The schemas of the services, in this order: `secrets` and `sync` refer to namespaces of `login`, a view of `sync` to `secrets`. */
export const serviceSchemas: readonly Migrations[] = [schemas.login, schemas.secrets, schemas.sync];
