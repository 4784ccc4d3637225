import type { Sql } from '@secrets/db';
import { coalescedRead } from '../tokens/coalesced-read.ts';

/** A share of the requests of a key in one interval, which a gateway takes for itself. */
interface BudgetRequest {
  key: string;
  /** When the interval ends, in milliseconds since 1970. */
  endsAt: number;
  want: number;
}

/**
 * The total that all gateways have taken, including this one, and when the block of the key ends, in milliseconds since 1970 (0
 * if it is not blocked).
 */
interface BudgetUsage {
  taken: number;
  blockedUntil: number;
}

/** The usage of rate limits, shared by the gateways of an installation. */
export interface BudgetStore {
  /** Takes a share. Concurrent calls share one statement. */
  ask(ask: BudgetRequest): Promise<BudgetUsage>;
  /** Blocks a key until a time in milliseconds since 1970. */
  block(key: string, until: number): Promise<void>;
}

type UsageRow = { key: string; endsAt: number; taken: number; blockedUntil: number };

// In one order, so that gateways never wait for each other's rows in a circle.
const takeText = `
  insert into login.rate_limit_usage as u (key, ends_at, taken)
  select a.key, to_timestamp(a.ends_at / 1000.0), sum(a.want)
  from unnest($1::text[], $2::bigint[], $3::bigint[]) as a (key, ends_at, want) group by a.key, a.ends_at order by a.key, a.ends_at
  on conflict (key, ends_at) do update set taken = u.taken + excluded.taken
  returning key, (extract(epoch from ends_at) * 1000)::bigint as "endsAt", taken, coalesce((
    select (extract(epoch from max(b.ends_at)) * 1000)::bigint from login.rate_limit_usage b where b.key = ${blockKey('u.key')} and b.ends_at > now()
  ), 0) as "blockedUntil"`;

const blockText = `
  insert into login.rate_limit_usage (key, ends_at, taken) values (${blockKey('$1::text')}, to_timestamp($2::bigint / 1000.0), 0)
  on conflict do nothing`;

function blockKey(key: string): string {
  return `'blocked ' || ${key}`;
}

/** Keeps the budgets in Postgres. */
export function budgetStore(db: Sql): BudgetStore {
  let waiting: BudgetRequest[] = [];
  const take = coalescedRead(async () => {
    const asks = waiting;
    waiting = [];
    const rows = await db.query<UsageRow>(takeText, [
      asks.map(({ key }) => key),
      asks.map(({ endsAt }) => endsAt),
      asks.map(({ want }) => want),
    ]);
    return new Map(rows.map((row) => [nameOf(row), row]));
  });
  return {
    ask: async (ask) => {
      waiting.push(ask);
      const answer = (await take()).get(nameOf(ask));
      if (answer === undefined) throw new Error('the budget has no answer');
      return answer;
    },
    block: async (key, until) => {
      await db.query(blockText, [key, until]);
    },
  };
}

const nameOf = ({ key, endsAt }: Pick<BudgetRequest, 'key' | 'endsAt'>): string => `${endsAt} ${key}`;
