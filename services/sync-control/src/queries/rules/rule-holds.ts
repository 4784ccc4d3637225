import type { PageRange, Sql, Tx } from '@secrets/db';
import type { RuleRow } from './rules.ts';

/** The state of a rule that a hold is written for. */
export type HoldingRule = Pick<RuleRow, 'id' | 'version' | 'runId' | 'naming'>;

/** Keeps a rule as it is until the end of the transaction. Returns false if it was written since. */
export async function isRuleUnchanged(
  tx: Tx,
  { id, version }: Pick<HoldingRule, 'id' | 'version'>,
): Promise<boolean> {
  const rows = await tx.query('select from sync.rules where id = $1 and version = $2 for share', [
    id,
    version,
  ]);
  return rows.length === 1;
}

/** Records that a rule holds associations, whose rows are locked. */
export async function addHolds(
  tx: Tx,
  { id, runId }: Pick<HoldingRule, 'id' | 'runId'>,
  associationIds: readonly string[],
): Promise<void> {
  if (associationIds.length === 0) return;
  await tx.query(
    `insert into sync.rule_holds (rule_id, association_id, run_id) select $1, id, $3 from unnest($2::uuid[]) as a (id) order by id
     on conflict (rule_id, association_id) do update set run_id = excluded.run_id`,
    [id, associationIds, runId],
  );
}

/** Locks an association that needs no more than another hold: its secret is the same, and it does not end. */
export async function lockHoldable(
  tx: Tx,
  secret: { destinationId: string; accessor: string; secretName: string; secretId: string },
): Promise<{ id: string; naming: unknown } | undefined> {
  const [row] = await tx.query<{ id: string; naming: unknown }>(
    `select id, naming from sync.associations
      where destination_id = $1 and accessor = $2 and secret_name = $3 and secret_id = $4 and not removing and source_gone_at is null
      for no key update`,
    [secret.destinationId, secret.accessor, secret.secretName, secret.secretId],
  );
  return row;
}

/** Confirms the holds of a rule on associations of these secrets in the current run. Returns the secrets. */
export async function confirmHolds(
  sql: Sql,
  { id, runId, destinationId }: Pick<RuleRow, 'id' | 'runId' | 'destinationId'>,
  accessor: string,
  secrets: readonly { secretId: string; path: string }[],
): Promise<Set<string>> {
  const rows = await sql.query<{ secretId: string }>(
    `update sync.rule_holds h set run_id = $2
       from unnest($5::uuid[], $6::text[]) as s (secret_id, path)
       cross join lateral (
         select id from sync.associations
          where destination_id = $3 and accessor = $4 and secret_name = s.path and secret_id = s.secret_id and not removing limit 1) as a
      where h.rule_id = $1 and h.association_id = a.id
      returning s.secret_id as "secretId"`,
    [
      id,
      runId,
      destinationId,
      accessor,
      secrets.map(({ secretId }) => secretId),
      secrets.map(({ path }) => path),
    ],
  );
  return new Set(rows.map(({ secretId }) => secretId));
}

/** Returns associations that a rule holds by ID, after one, and whether the current run has confirmed each. */
export const listHolds = (
  sql: Sql,
  { id, runId }: Pick<RuleRow, 'id' | 'runId'>,
  { after, limit }: PageRange,
): Promise<{ associationId: string; secretId: string; isConfirmed: boolean }[]> =>
  sql.query(
    `select page.association_id as "associationId", page.run_id = $2 as "isConfirmed", a.secret_id as "secretId"
       from (select association_id, run_id from sync.rule_holds
              where rule_id = $1 and association_id > $3 order by association_id limit $4) as page
       cross join lateral (select secret_id from sync.associations where id = page.association_id limit 1) as a
      order by page.association_id`,
    [id, runId, after, limit],
  );

/** Returns the holds of rules on the associations of a secret. */
export const listHoldsOfSecret = (
  sql: Sql,
  secretId: string,
): Promise<{ ruleId: string; associationId: string }[]> =>
  sql.query(
    `select h.rule_id as "ruleId", h.association_id as "associationId"
       from sync.associations a cross join lateral (
         select rule_id, association_id from sync.rule_holds where association_id = a.id offset 0) as h
      where a.secret_id = $1`,
    [secretId],
  );

/** Ends the holds of a rule on associations, whose rows are locked; with `keeps`, they are held by hand from now on. */
export async function endHolds(
  tx: Tx,
  ruleId: string,
  associationIds: readonly string[],
  keeps: boolean,
): Promise<void> {
  await tx.query('delete from sync.rule_holds where rule_id = $1 and association_id = any($2::uuid[])', [
    ruleId,
    associationIds,
  ]);
  if (keeps)
    await tx.query('update sync.associations set by_hand = true where id = any($1::uuid[])', [
      associationIds,
    ]);
}

/** Returns those of these associations that nothing holds, and that do not end yet. */
export const listUnheld = (
  sql: Sql,
  associationIds: readonly string[],
): Promise<{ associationId: string; secretId: string }[]> =>
  sql.query(
    `select a.id as "associationId", a.secret_id as "secretId" from sync.associations a
      where a.id = any($1::uuid[]) and not a.by_hand and not a.removing
        and not exists (select from sync.rule_holds where association_id = a.id)`,
    [associationIds],
  );

/** Whether a rule holds an association. */
export async function isHeldByRule(sql: Sql, associationId: string): Promise<boolean> {
  const rows = await sql.query('select from sync.rule_holds where association_id = $1 limit 1', [
    associationId,
  ]);
  return rows.length > 0;
}

/** Ends the hold by hand of an association, whose row is locked. Returns the names of the rules that still hold it. */
export async function endHoldByHand(tx: Tx, associationId: string): Promise<string[]> {
  await tx.query('update sync.associations set by_hand = false where id = $1 and by_hand', [associationId]);
  const rows = await tx.query<{ name: string }>(
    `select r.name from sync.rule_holds h cross join lateral (select name from sync.rules where id = h.rule_id limit 1) as r
      where h.association_id = $1 order by r.name limit 100`,
    [associationId],
  );
  return rows.map(({ name }) => name);
}

/** The holders of an association: a set by hand, and rules by their names. */
export interface Holders {
  associationId: string;
  byHand: boolean;
  rules: string[];
}

/** Returns what holds each of these associations, with at most `maxRules` names of rules. */
export const listHolders = (
  sql: Sql,
  associationIds: readonly string[],
  maxRules: number,
): Promise<Holders[]> =>
  sql.query(
    `select a.id as "associationId", a.by_hand as "byHand",
            array(select r.name from (select rule_id from sync.rule_holds where association_id = a.id limit $2) as h
                    cross join lateral (select name from sync.rules where id = h.rule_id limit 1) as r
                   order by r.name) as rules
       from unnest($1::uuid[]) as wanted (id)
      cross join lateral (select id, by_hand from sync.associations where id = wanted.id limit 1) as a`,
    [associationIds, maxRules],
  );

/** Returns the number of associations that a rule holds, counted up to `limit`. */
export async function countHolds(sql: Sql, ruleId: string, limit: number): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    'select count(*) as count from (select from sync.rule_holds where rule_id = $1 limit $2) as counted',
    [ruleId, limit],
  );
  return row?.count ?? 0;
}
