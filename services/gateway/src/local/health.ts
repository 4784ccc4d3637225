import { checkDatabase, type Db } from '@secrets/db';
import { failedDependencies } from '@secrets/http';
import type { Upstream } from '../upstream/upstream.ts';
import { cached } from './cached.ts';

/** The body of `GET sys/health` (docs/conventions/http.md#health-and-self-description). */
export interface Health {
  /** False if the database responds and the tables of the installation do not exist. */
  initialized: boolean;
  ready: boolean;
  /** Whether secrets can be read and written, whatever else is missing. */
  serving: boolean;
  /** Names of the components that are unavailable. */
  missing: string[];
  /** The dependencies that a missing service lacks, by service; `no response` if it does not say. */
  causes: Record<string, string[]>;
}

const cacheMs = 1_000;

/** The components without which no secret can be read or written. */
const needed = ['database', 'secrets'];

/** Returns a check of the database and of every service. Its result is cached for a second. */
export function healthOf(db: Db, upstreams: readonly Upstream[]): () => Promise<Health> {
  const checkDatabase = databaseCheck(db);
  return cached(cacheMs, async () => {
    const causes: Health['causes'] = {};
    let initialized = true;
    const checks = {
      database: () =>
        checkDatabase().catch((error: unknown) => {
          initialized = !isMissingTable(error);
          throw error;
        }),
      ...Object.fromEntries(upstreams.map((upstream) => [upstream.name, () => isReady(upstream, causes)])),
    };
    const missing = await failedDependencies(checks);
    for (const name of missing) if (name !== 'database') causes[name] ??= ['no response'];
    const serving = !missing.some((name) => needed.includes(name));
    return { initialized, ready: missing.length === 0, serving, missing, causes };
  });
}

/** Rejects if the database accepts no writes, or the tables that authorization needs cannot be read. */
export const databaseCheck = (db: Db) => async (): Promise<void> => {
  await checkDatabase(db);
  await db.query('select value from login.access_epoch');
};

/** https://www.postgresql.org/docs/current/errcodes-appendix.html: `undefined_table`, `invalid_schema_name` */
const isMissingTable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '3F000');

/** Rejects if a service is not ready, after noting what it lacks. */
async function isReady(upstream: Upstream, causes: Health['causes']): Promise<void> {
  const missing = await upstream.missing();
  if (missing.length === 0) return;
  causes[upstream.name] = missing;
  throw new Error(`${upstream.name} is not ready`);
}
