/** The workers, one a destination type. A further type is one line here: its role, its user of the broker and its queue follow. */
export const workers = ['sync-worker-clouda-sm'] as const;

/** The services that log in to the database, each with a role of its own. */
export const databaseServices = ['gateway', 'login', 'secrets', 'sync-control', ...workers] as const;
export type DatabaseService = (typeof databaseServices)[number];

/**
 * The role of a service: its name as an identifier. Row level security knows a worker's destination type by it
 * (`sync.works_on`), so a worker is named after its type.
 */
export const roleOf = (service: DatabaseService): string => service.replaceAll('-', '_');
