import type { Sql } from '@secrets/db';
import { type RuleRow, ruleColumns } from './rules.ts';

/** A rule with its destination. */
export interface RuleOfDestination extends RuleRow {
  type: string;
  destinationName: string;
  /** Whether nothing can be associated with the destination: it is being purged, or was deleted by force. */
  isClosed: boolean;
}

const withDestination = `${ruleColumns}, d.type, d.name as "destinationName",
  d.purge_initiated_at is not null or d.deleted_at is not null as "isClosed"`;

/** A part of the work for a rule, which one process does, until another one may take over. */
export interface RuleLease extends RuleOfDestination {
  fence: string;
  position: string;
  keeps: boolean;
  attempts: number;
  /** Whether every transaction that may not have seen the pattern of the rule has ended. */
  isSeen: boolean;
}

/**
 * Longer than a write of a secret can take. Transactions in other databases of the server, which may last for hours, count as
 * in progress, too.
 */
const longestWrite = `interval '2 minutes'`;

/** Takes the rule that has been due for longest, for a minute. One that rests begins a run. Returns undefined if none is due. */
export async function claimRule(sql: Sql): Promise<RuleLease | undefined> {
  const [row] = await sql.query<RuleLease>(
    `update sync.rules r
        set due_at = now() + interval '1 minute', fence = gen_random_uuid(), phase = case when phase = 'resting' then 'matching' else phase end,
            run_id = case when phase = 'resting' then gen_random_uuid() else run_id end,
            position = case when phase = 'resting' then '' else position end,
            matched_so_far = case when phase = 'resting' then 0 else matched_so_far end
       from (select id, destination_id from sync.rules where due_at <= now() order by due_at limit 1 for update skip locked) as due
       cross join lateral (select * from sync.destinations where id = due.destination_id limit 1) as d
      where r.id = due.id
      returning ${withDestination}, r.fence, r.position, r.keeps, r.attempts,
        r.xid < pg_snapshot_xmin(pg_current_snapshot()) or r.updated_at < now() - ${longestWrite} as "isSeen"`,
  );
  return row;
}

/** Where the work for a rule continues. */
export interface RuleProgress {
  phase: RuleRow['phase'];
  position: string;
  matchedSoFar: number;
  error: string | null;
  attempts: number;
  retryInSeconds: number;
}

/** Records how far a process has come with a rule, if it still has it. A run that has ended with it becomes the last one. */
export async function recordRuleProgress(
  sql: Sql,
  { id, fence, phase: before }: RuleLease,
  { phase, position, matchedSoFar, error, attempts, retryInSeconds }: RuleProgress,
): Promise<void> {
  await sql.query(
    `update sync.rules
        set phase = $3, position = $4, matched_so_far = $5, error = $6, attempts = $7, due_at = now() + $8 * interval '1 second', fence = null,
            matched = case when $9 then $5 else matched end, last_run_at = case when $9 then now() else last_run_at end
      where id = $1 and fence = $2`,
    [
      id,
      fence,
      phase,
      position,
      matchedSoFar,
      error,
      attempts,
      retryInSeconds,
      phase === 'resting' && before === 'releasing',
    ],
  );
}

/** Returns the rules about paths of a mount whose patterns have one of these beginnings. */
export const listRulesOfPath = (
  sql: Sql,
  mountId: string,
  beginnings: readonly string[],
): Promise<RuleOfDestination[]> =>
  sql.query<RuleOfDestination>(
    `select ${withDestination}
       from unnest($2::text[]) as b (beginning)
       cross join lateral (
         select * from sync.rules where mount_id = $1 and beginning = b.beginning and phase <> 'ending' offset 0) as r
       cross join lateral (select * from sync.destinations where id = r.destination_id limit 1) as d`,
    [mountId, beginnings],
  );

/** Returns these rules, except those that end. */
export const listRulesById = (sql: Sql, ids: readonly string[]): Promise<RuleOfDestination[]> =>
  sql.query<RuleOfDestination>(
    `select ${withDestination} from sync.rules r
      cross join lateral (select * from sync.destinations where id = r.destination_id limit 1) as d
      where r.id = any($1::uuid[]) and r.phase <> 'ending'`,
    [ids],
  );
