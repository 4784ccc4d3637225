import type { Sql, Tx } from '@secrets/db';
import { inspectAll } from '../status/inspections.ts';

/**
 * The cause for which syncing is held: a service was started with another INSTALLATION, the database is another one than
 * before (a dump was restored, or it was copied), or the server was recovered to an earlier time.
 */
export type HeldBecause = 'installation' | 'database' | 'recovery';

/** The installation that the database belongs to. */
export interface Installation {
  /** The setting INSTALLATION that is stored; null if none was ever set. */
  name: string | null;
  /** Another one, with which a service was started since; null if there is none. */
  otherName: string | null;
  heldBecause: HeldBecause | null;
}

/** The installation that a process belongs to. */
export interface OwnInstallation {
  /** The setting INSTALLATION; undefined if it is not set. */
  name?: string | undefined;
  /** Where the files of the database are; undefined if that is not to be compared. */
  place?: string | undefined;
}

/**
 * Reports the setting INSTALLATION of a process. If it differs from the stored one, everything is held, for all processes, until
 * somebody confirms the installation. Without the setting, only the database counts.
 */
export async function reportInstallation(sql: Sql, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  await sql.query(
    'update sync.installation set other_name = $1 where name <> $1 and other_name is distinct from $1',
    [name],
  );
}

/** A promotion of a standby takes less. An older state of the database comes from a backup. */
const outageMinutes = 15;
const heartbeatMinutes = 1;

/** SQL condition: nothing was found yet for which syncing is held. */
const isUnheld = '(i.other_name is null and i.held_because is null)';

/** SQL: why syncing is to be held in the database `this`, compared with what is stored; null if it is not. `$1` is the place. */
const mismatch = `case
  when i.system_identifier <> this.system_identifier or i.database_oid <> this.database_oid or i.table_oid <> this.table_oid
    or i.place <> $1::text then 'database'
  when i.timeline <> this.timeline and i.alive_at < now() - interval '${outageMinutes} minutes' then 'recovery' end`;

/** SQL assignments of what identifies the database `this`, at the place `$1`. What its server does not show stays as it was. */
const isThisDatabase = `system_identifier = coalesce(this.system_identifier, i.system_identifier), database_oid = this.database_oid,
  table_oid = this.table_oid, timeline = coalesce(this.timeline, i.timeline), place = coalesce($1::text, i.place),
  server_started_at = pg_postmaster_start_time(), alive_at = now()`;

/**
 * Stores the installation at the first start. From then on, once a minute, and as soon as the server was started again, compares
 * the database with what is stored, and holds syncing if it is another one. To be repeated every second or so: after a start of
 * the server, nothing is sent before.
 */
export async function recordInstallation(sql: Sql, own: OwnInstallation): Promise<void> {
  if (!(await isComparisonDue(sql, own))) return;
  const { name = null, place = null } = own;
  // Each statement compares for itself: there may be a failover between the two.
  await sql.query(
    `update sync.installation i set held_because = ${mismatch}
       from sync.database_identity() as this where ${isUnheld} and ${mismatch} is not null`,
    [place],
  );
  await sql.query(
    `update sync.installation i set name = coalesce(i.name, $2), ${isThisDatabase}
       from sync.database_identity() as this where ${isUnheld} and ${mismatch} is null`,
    [place, name],
  );
}

async function isComparisonDue(sql: Sql, own: OwnInstallation): Promise<boolean> {
  const { name = null, place = null } = own;
  const rows = await sql.query(
    `select i.id from sync.installation i
      where ${isUnheld} and (i.server_started_at is null or exists (select from sync.held)
        or i.alive_at not between now() - interval '${heartbeatMinutes} minutes' and now()
        or (i.name is null and $2::text is not null) or i.place is distinct from coalesce($1, i.place))`,
    [place, name],
  );
  return rows.length > 0;
}

/**
 * Stores the installation that is running now, if something is held, so that it continues, and has everything in all destinations
 * looked at. Returns whether something was held. In a transaction: without the looks, nothing is confirmed.
 */
export async function confirmInstallation(tx: Tx, own: OwnInstallation): Promise<boolean> {
  await recordInstallation(tx, own); // what was restored a moment ago is confirmed, too
  const { name = null, place = null } = own;
  const rows = await tx.query(
    `update sync.installation i set name = coalesce($2, i.name), other_name = null, held_because = null, ${isThisDatabase}, confirmed_at = now()
       from sync.database_identity() as this where not ${isUnheld} returning i.id`,
    [place, name],
  );
  if (rows.length === 0) return false;
  await inspectAll(tx);
  return true;
}

export async function readInstallation(sql: Sql): Promise<Installation> {
  const [row] = await sql.query<Installation>(
    `select name, other_name as "otherName", case when other_name is not null then 'installation' else held_because end as "heldBecause"
       from sync.installation`,
  );
  return row!;
}
