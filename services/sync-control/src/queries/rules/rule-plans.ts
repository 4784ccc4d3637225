import type { PageRange, Sql } from '@secrets/db';

/** Secrets of a mount that a rule of a destination matches. */
interface MatchesOf {
  destinationId: string;
  accessor: string;
  secrets: readonly { secretId: string; path: string }[];
}

/**
 * SQL: the association of each secret `s`, whether another hold suffices for it, because it is of the same secret and does not
 * end, and whether the rule $5 holds it.
 */
const associationsOfMatches = `from unnest($3::uuid[], $4::text[]) as s (secret_id, path)
  left join lateral (
    select id, naming, secret_id = s.secret_id and not removing and source_gone_at is null as lasts from sync.associations
     where destination_id = $1 and accessor = $2 and secret_name = s.path limit 1) as a on true
  left join lateral (
    select association_id from sync.rule_holds where rule_id = $5 and association_id = a.id limit 1) as h on true`;

const parametersOf = ({ destinationId, accessor, secrets }: MatchesOf, ruleId: string | undefined) => [
  destinationId,
  accessor,
  secrets.map(({ secretId }) => secretId),
  secrets.map(({ path }) => path),
  ruleId ?? null,
];

/** Returns how many of the secrets have no association, and how many have one that the rule does not hold. */
export async function countMatches(
  sql: Sql,
  matches: MatchesOf,
  ruleId: string | undefined,
): Promise<{ unassociated: number; unheld: number }> {
  const [row] = await sql.query<{ unassociated: number; unheld: number }>(
    `select count(*) filter (where a.lasts is not true)::int as unassociated,
            count(*) filter (where a.lasts and h.association_id is null)::int as unheld ${associationsOfMatches}`,
    parametersOf(matches, ruleId),
  );
  return row!;
}

/** Returns the associations of the secrets, whether another hold suffices for each, and whether the rule holds it. */
export const listAssociationsOfMatches = (
  sql: Sql,
  matches: MatchesOf,
  ruleId: string | undefined,
): Promise<{ id: string; secretId: string; naming: unknown; lasts: boolean; isHeld: boolean }[]> =>
  sql.query(
    `select a.id, s.secret_id as "secretId", a.naming, a.lasts, h.association_id is not null as "isHeld" ${associationsOfMatches} where a.id is not null`,
    parametersOf(matches, ruleId),
  );

/** An association that a rule holds. */
export interface HeldAssociation {
  associationId: string;
  mountId: string;
  mount: string;
  secretId: string;
  secretName: string;
  /** Whether it ends with this hold: it is not held by hand or by another rule, and does not end already. */
  isLastHold: boolean;
}

/** Returns associations that a rule holds by ID, after one. */
export const listHeldAssociations = (
  sql: Sql,
  ruleId: string,
  { after, limit }: PageRange,
): Promise<HeldAssociation[]> =>
  sql.query(
    `select a.id as "associationId", a.mount_id as "mountId", a.mount, a.secret_id as "secretId", a.secret_name as "secretName",
            not a.by_hand and not a.removing and a.source_gone_at is null and not exists (
              select from sync.rule_holds where association_id = a.id and rule_id <> $1) as "isLastHold"
       from (select association_id from sync.rule_holds
              where rule_id = $1 and association_id > $2 order by association_id limit $3) as h
       cross join lateral (select * from sync.associations where id = h.association_id limit 1) as a
      order by a.id`,
    [ruleId, after, limit],
  );
