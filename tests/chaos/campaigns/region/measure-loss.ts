import { openCopySession } from '../../../../libs/db/src/index.ts';
import { client } from '../../../harness/http.ts';
import type { LostCommits } from '../../check/histories/lost-commits.ts';
import type { FinalVersions } from '../../check/histories/versions.ts';
import { type Operation, ofKind } from '../../load/operation.ts';
import type { World } from '../../load/world.ts';

/** The end of a server's log. */
export interface LogPosition {
  /** Bytes of the log. */
  bytes: number;
  /** The number of transactions that have written. */
  transactions: number;
  /** When the newest transaction was committed that a standby has; null on a primary. */
  lastCommitAt: number | null;
}

/** Reads how far a server has got, also a standby. */
export async function logPosition(url: string): Promise<LogPosition> {
  const session = await openCopySession(url, 'drill');
  try {
    const [row] = await session.query<{ bytes: string; transactions: string; at: Date | null }>(
      `select (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0')::text as bytes,
              pg_snapshot_xmax(pg_current_snapshot())::text as transactions, pg_last_xact_replay_timestamp() as at`,
    );
    const { bytes, transactions, at } = row!;
    return {
      bytes: Number(bytes),
      transactions: Number(transactions),
      lastCommitAt: at?.getTime() ?? null,
    };
  } finally {
    await session.close();
  }
}

/** The commits that a promotion has lost. */
export interface Loss {
  /** Between the newest commit that the standby has and the end of the primary. */
  seconds: number;
  transactions: number;
  logKibibytes: number;
  /** Writes and sets that were acknowledged in the last seconds, and those of them that are gone. */
  acknowledged: { writes: number; sets: number };
  lost: { writes: number; sets: number };
}

/** A set that was acknowledged, or may have had an effect, and whose association does not exist. */
export interface LostSet {
  destination: string;
  key: string;
}

const isIn = ({ from, until }: LostCommits, { endedAt, invokedAt }: Operation): boolean =>
  endedAt >= from && invokedAt < until;

/** Counts the acknowledged requests of the lost time, and those that the promoted standby does not know. */
export function countLost(
  history: readonly Operation[],
  window: LostCommits,
  { versions, lostSets }: { versions: ReadonlyMap<string, FinalVersions>; lostSets: readonly LostSet[] },
): Pick<Loss, 'acknowledged' | 'lost'> {
  const acknowledged = history.filter((one) => one.outcome === 'ok' && isIn(window, one));
  const writes = ofKind(acknowledged, 'write');
  const sets = ofKind(acknowledged, 'set');
  const isGone = (one: { destination: string; key: string }) =>
    lostSets.some(({ destination, key }) => destination === one.destination && key === one.key);
  return {
    acknowledged: { writes: writes.length, sets: sets.length },
    lost: {
      writes: writes.filter(({ key, version = 0, value }) => versions.get(key)?.get(version) !== value)
        .length,
      sets: sets.filter(isGone).length,
    },
  };
}

/** Finds the sets of the lost time whose associations do not exist now. */
export async function findLostSets(
  { changing, gateways, rootToken }: World,
  history: readonly Operation[],
  window: LostCommits,
): Promise<LostSet[]> {
  const sets = ofKind(history, 'set').filter((one) => one.outcome !== 'failed' && isIn(window, one));
  const known = new Set<string>();
  const ask = client(gateways[0]!.url, rootToken);
  for (const { id, path } of changing) {
    const { body } = await ask('GET', `${path}/associations`);
    for (const { secret_name } of Object.values<Record<string, string>>(body.data.associated_secrets))
      known.add(`${id} ${secret_name}`);
  }
  const lost = new Map(sets.map(({ destination, key }) => [`${destination} ${key}`, { destination, key }]));
  return [...lost].flatMap(([name, one]) => (known.has(name) ? [] : [one]));
}
