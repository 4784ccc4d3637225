import { fileURLToPath } from 'node:url';
import type { Migrations } from '@secrets/db';

/** The folders of other services lie beside this one's, in an image too: text, never code. */
const migrationsOf = (service: string): string =>
  fileURLToPath(new URL(`../../${service}/migrations`, import.meta.url));

/** In this order: `secrets` and `sync` refer to namespaces of `login`, and a view of `sync` reads one of `secrets`. */
export const ownedSchemas: readonly Migrations[] = [
  { schema: 'login', folder: migrationsOf('login') },
  { schema: 'secrets', folder: migrationsOf('secrets') },
  { schema: 'sync', folder: migrationsOf('sync-control') },
];
