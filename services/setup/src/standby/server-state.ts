import type { Sql } from '@secrets/db';

/** The state of a PostgreSQL server, as far as it decides whether the server can take over. */
export interface ServerState {
  /** Whether it is a standby. */
  isStandby: boolean;
  /** Whether a standby is connected to its primary. */
  isReceiving: boolean;
  /** Whether a standby has applied everything that it has received. */
  hasAppliedAll: boolean;
  /** When the newest commit was made that a standby has applied; null if it has applied none since its start. */
  lastCommitAt: Date | null;
  /** Its time. */
  now: Date;
  /** The setting: commits wait for these standbys once it is promoted. */
  synchronousStandbys: string;
  /** Whether it refuses writes by its settings, also after its promotion. */
  isReadOnly: boolean;
  /** The heartbeat of sync-control; null before its first start. */
  aliveAt: Date | null;
}

/** Reads the state of a server without writing anything. */
export async function readServerState(sql: Sql): Promise<ServerState> {
  const [row] = await sql.query<ServerState>(
    `select pg_is_in_recovery() as "isStandby",
            exists (select from pg_stat_wal_receiver where pid is not null) as "isReceiving",
            coalesce(pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn(), true) as "hasAppliedAll",
            pg_last_xact_replay_timestamp() as "lastCommitAt", now() as "now",
            current_setting('synchronous_standby_names') as "synchronousStandbys",
            current_setting('default_transaction_read_only')::boolean as "isReadOnly",
            (select alive_at from sync.installation) as "aliveAt"`,
  );
  return row!;
}
