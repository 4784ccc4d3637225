/** The workers, one per destination type. Adding a type here also adds its database role, its RabbitMQ user and its queue. */
export const workers = [
  'sync-worker-clouda-sm',
  'sync-worker-cloudb-kv',
  'sync-worker-cloudc-sm',
  'sync-worker-codehost',
  'sync-worker-webhost-project',
] as const;

/** The services that log in to the database, each with a role of its own. */
export const databaseServices = ['gateway', 'login', 'secrets', 'sync-control', ...workers] as const;
export type DatabaseService = (typeof databaseServices)[number];

/**
 * The database role of a service: its name as an identifier. Row-level security derives a worker's destination type from it
 * (`sync.works_on`), so a worker must be named after its type.
 */
export const roleOf = (service: DatabaseService): string => service.replaceAll('-', '_');
