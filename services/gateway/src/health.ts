import type { Db } from '@secrets/db';
import { missingParts } from '@secrets/http';
import { cached } from './cached.ts';
import type { Upstream } from './upstream.ts';

/** Where health is asked for, by GET or HEAD, without a token. */
export const healthPath = 'sys/health';

/** What `GET sys/health` returns (docs/conventions.md#19-health-and-self-description). */
export interface Health {
  /** Whether the installation's tables are there. */
  initialized: boolean;
  ready: boolean;
  /** Names of the parts that do not answer. */
  missing: string[];
}

const cacheMs = 1_000;

/** Whether the database and every service answer; asked at most once a second, however many want to know. */
export function healthOf(db: Db, upstreams: readonly Upstream[]): () => Promise<Health> {
  const checks = {
    database: databaseCheck(db),
    ...Object.fromEntries(upstreams.map((upstream) => [upstream.name, () => isReady(upstream)])),
  };
  return cached(cacheMs, async () => {
    const missing = await missingParts(checks);
    return { initialized: !missing.includes('database'), ready: missing.length === 0, missing };
  });
}

/** Rejects when the tables that requests are judged by cannot be read. */
export const databaseCheck = (db: Db) => async (): Promise<void> => {
  await db.query('select value from login.access_epoch');
};

const isReady = async (upstream: Upstream): Promise<void> => {
  await upstream.fetchOwn('/readyz');
};
