import { createHash } from 'node:crypto';
import type { DatabaseService } from '../../../src/database-roles.ts';
import type { CaseDb } from '../measured-db.ts';

/** A function that executes statements of the product on the seeded data. */
export interface Case {
  name: string;
  /** Whose role it has; undefined for the owner of the database. */
  service: DatabaseService | undefined;
  run(db: CaseDb): Promise<unknown>;
}

/** Makes cases of one service from functions by name. */
export const casesOf = (service: DatabaseService | undefined, runs: Record<string, Case['run']>): Case[] =>
  Object.entries(runs).map(([name, run]) => ({ name, service, run }));

/** Returns the ID that seed.sql derives from a text. */
export const seededId = (text: string): string =>
  createHash('md5')
    .update(text)
    .digest('hex')
    .replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** The destinations of seed.sql, by what is in them. */
export const destinations = {
  busy: seededId('destination1'), // 300,000 entries are due; the first association has 1,000 of them
  inPurge: seededId('destination2'), // 50,000 associations, of which all but 5 are being removed
  failed: seededId('destination3'), // 100,000 entries failed before a retry was requested
  deleted: seededId('destination4'), // 50,000 entries
  withoutSource: seededId('destination5'), // 25,000 associations whose sources are gone
  ordinary: seededId('destination21'), // 404 entries of every kind
  beside: seededId('host3'), // a code-host destination, whose 20 entries have rivals in another one
  shared: seededId('destination921'), // the same, in a lane of 101 destinations
} as const;

/** Returns the first column of a query that a case uses to find its own data. */
export async function column<Value = string>(
  db: CaseDb,
  text: string,
  params: unknown[] = [],
): Promise<Value[]> {
  const rows = await db.query<{ value: Value }>(text, params);
  return rows.map(({ value }) => value);
}
