import type { PageRange, Sql } from '@secrets/db';
import type { Naming } from '@secrets/destinations';
import type { RuleMatch } from '@secrets/domain';

/** The mount of a rule, and the secrets in it that the rule is about. */
export interface RuleSelection extends RuleMatch {
  mountId: string;
  /** The path of the mount. */
  mount: string;
  /** The template, granularity and `value_key` that apply to the rule's secrets in place of the destination's. */
  naming: Naming;
}

/** A stored rule of a destination. */
export interface RuleRow extends RuleSelection {
  id: string;
  destinationId: string;
  name: string;
  sealedOwner: Uint8Array;
  /** Increases with each write. */
  version: number;
  /**
   * `matching`: it goes through the mount; `releasing`: it ends the holds that this has not confirmed; `resting`: until the next
   * run; `ending`: it was deleted, and ends its holds.
   */
  phase: 'matching' | 'releasing' | 'resting' | 'ending';
  /** Identifies the current run, or the last one. */
  runId: string;
  /** The number of matches in the current run so far, and in the last one that has ended; null before the first one. */
  matchedSoFar: number;
  matched: number | null;
  lastRunAt: Date | null;
  /** Why it does not continue. */
  error: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** The columns of `RuleRow`, of the table alias `r`. */
export const ruleColumns = `r.id, r.destination_id as "destinationId", r.name, r.mount_id as "mountId", r.mount, r.path, r.exclude,
  r.metadata_match as "metadataMatch", r.naming, r.sealed_owner as "sealedOwner", r.version, r.phase, r.run_id as "runId",
  r.matched_so_far as "matchedSoFar", r.matched, r.last_run_at as "lastRunAt", r.error, r.created_at as "createdAt", r.updated_at as "updatedAt"`;

export async function findRule(sql: Sql, destinationId: string, name: string): Promise<RuleRow | undefined> {
  const [row] = await sql.query<RuleRow>(
    `select ${ruleColumns} from sync.rules r where destination_id = $1 and name = $2`,
    [destinationId, name],
  );
  return row;
}

/** Returns a rule like `findRule`, and locks its row. */
export async function lockRule(sql: Sql, destinationId: string, name: string): Promise<RuleRow | undefined> {
  const [row] = await sql.query<RuleRow>(
    `select ${ruleColumns} from sync.rules r where destination_id = $1 and name = $2 for no key update`,
    [destinationId, name],
  );
  return row;
}

export async function listRuleNames(
  sql: Sql,
  destinationId: string,
  { after, limit }: PageRange,
): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    'select name from sync.rules where destination_id = $1 and name > $2 order by name limit $3',
    [destinationId, after, limit],
  );
  return rows.map(({ name }) => name);
}

/** Returns names of rules of a destination that are not being deleted. */
export async function listLastingRules(sql: Sql, destinationId: string, limit: number): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    "select name from sync.rules where destination_id = $1 and phase <> 'ending' order by name limit $2",
    [destinationId, limit],
  );
  return rows.map(({ name }) => name);
}

/** Returns the number of rules of a destination, and of the installation, each counted up to a limit. */
export async function countRules(
  sql: Sql,
  destinationId: string,
  { ofDestination, ofAll }: { ofDestination: number; ofAll: number },
): Promise<{ ofDestination: number; ofAll: number }> {
  const [row] = await sql.query<{ ofDestination: number; ofAll: number }>(
    `select (select count(*) from (select from sync.rules where destination_id = $1 limit $2) as of_one) as "ofDestination",
            (select count(*) from (select from sync.rules limit $3) as others) as "ofAll"`,
    [destinationId, ofDestination, ofAll],
  );
  return row!;
}

/** The columns that a write of a rule determines. */
export interface WrittenRule extends RuleSelection {
  id: string;
  beginning: string;
  sealedOwner: Uint8Array;
}

/** Creates a rule, whose first run is due. */
export async function insertRule(
  sql: Sql,
  destinationId: string,
  name: string,
  rule: WrittenRule,
): Promise<void> {
  await sql.query(
    `insert into sync.rules (id, mount_id, mount, path, beginning, exclude, metadata_match, sealed_owner, naming, destination_id, name)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9::jsonb, $10, $11)`,
    [...parametersOf(rule), destinationId, name],
  );
}

/** Replaces a rule. A run of it begins anew, and a process that has a page of it can no longer record it. */
export async function updateRule(sql: Sql, rule: WrittenRule): Promise<void> {
  await sql.query(
    `update sync.rules
        set mount_id = $2, mount = $3, path = $4, beginning = $5, exclude = $6, metadata_match = $7::jsonb, sealed_owner = $8, naming = $9::jsonb,
            version = version + 1, xid = pg_current_xact_id(), phase = 'matching', run_id = gen_random_uuid(), position = '',
            matched_so_far = 0, error = null, attempts = 0, due_at = now(), fence = null, updated_at = now()
      where id = $1`,
    parametersOf(rule),
  );
}

const parametersOf = (rule: WrittenRule) => [
  rule.id,
  rule.mountId,
  rule.mount,
  rule.path,
  rule.beginning,
  rule.exclude,
  JSON.stringify(rule.metadataMatch),
  rule.sealedOwner,
  JSON.stringify(rule.naming),
];

/** Lets a rule end its holds, after which it is deleted; with `keeps`, its associations become ones held by hand. */
export async function endRule(sql: Sql, id: string, keeps: boolean): Promise<void> {
  await sql.query(
    `update sync.rules
        set version = version + 1, phase = 'ending', keeps = $2, error = null, attempts = 0, due_at = now(), fence = null, updated_at = now()
      where id = $1`,
    [id, keeps],
  );
}

/** Deletes a rule that has no holds left. */
export async function deleteRule(sql: Sql, id: string): Promise<void> {
  await sql.query("delete from sync.rules where id = $1 and phase = 'ending'", [id]);
}
