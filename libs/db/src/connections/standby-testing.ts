import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { eventually } from '@secrets/testing';
import { startCutProxy } from '@secrets/testing/cut-proxy';
import pg from 'pg';
import { freePort } from '../embedded/address.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../embedded/server.ts';

/** A PostgreSQL server and its standby. */
export interface ServerPair {
  /** The address of the server that is to be used, like the read-write Service of an operator. */
  url: string;
  primary: EmbeddedServer;
  standby: EmbeddedServer;
  /** The standby gets no more of what the primary writes. */
  holdReplication(): void;
  /** New connections to `url` lead to the standby, whether or not it is promoted yet. Open ones stay. */
  switchAddress(): void;
  /** Promotes the standby. Resolves when it accepts writes. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

const standbyName = 'standby';

interface PairOptions {
  /** Holds the files of both servers. */
  folder: string;
  /** Default 100. */
  maxConnections?: number;
  /** Whether the standby has each commit before it is acknowledged; default true. Otherwise, a promotion loses the last ones. */
  isSynchronous?: boolean;
}

/** Starts both servers. They are durable. */
export async function startServerPair(options: PairOptions): Promise<ServerPair> {
  const opened: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const one of opened.toReversed()) await one();
  };
  try {
    return { ...(await startBoth(options, (one) => void opened.push(one))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startBoth(
  { folder, maxConnections = 100, isSynchronous = true }: PairOptions,
  onClose: (close: () => Promise<void>) => void,
): Promise<Omit<ServerPair, 'close'>> {
  const start = async (name: 'primary' | 'standby', settings: Record<string, string>) => {
    const server = await startEmbeddedServer({
      folder: join(folder, name),
      port: await freePort(),
      maxConnections,
      settings: { wal_level: 'replica', max_wal_senders: 4, ...settings },
    });
    onClose(() => server.close());
    return server;
  };
  const proxyTo = async (server: EmbeddedServer) => {
    const proxy = await startCutProxy(server.url('postgres'));
    onClose(() => proxy.end());
    return proxy;
  };
  const primary = await start('primary', isSynchronous ? { synchronous_standby_names: standbyName } : {});
  await primary.stop(); // its files can be copied now
  copyForStandby(join(folder, 'primary'), join(folder, 'standby'));
  await primary.start();
  const [replication, address] = [await proxyTo(primary), await proxyTo(primary)];
  const standby = await start('standby', { primary_conninfo: conninfo(replication.url) });
  await untilReplicating(primary, isSynchronous ? 'sync' : 'async');
  return {
    url: address.url,
    primary,
    standby,
    holdReplication: () => replication.freeze(true),
    switchAddress: () => address.leadTo(standby.url('postgres')),
    promote: () => onServer(standby, (client) => client.query('select pg_promote()')),
  };
}

/** https://www.postgresql.org/docs/18/warm-standby.html#STANDBY-SERVER-SETUP */
function copyForStandby(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to]); // with owners and modes
  // Only the existence of the second file matters. As a copy, it belongs to the user of the server, which has to open it for
  // writing.
  execFileSync('cp', ['-p', join(to, 'data/PG_VERSION'), join(to, 'data/standby.signal')]);
}

function conninfo(url: string): string {
  const of = new URL(url);
  of.searchParams.set('application_name', standbyName);
  return of.toString();
}

/** Resolves when the standby receives commits in this way. */
const untilReplicating = (primary: EmbeddedServer, state: 'sync' | 'async'): Promise<void> =>
  onServer(primary, (client) =>
    eventually(async () => {
      const { rows } = await client.query(
        `select sync_state from pg_stat_replication where state = 'streaming'`,
      );
      return rows.some(({ sync_state }) => sync_state === state);
    }),
  );

/** `openPostgres` refuses a standby. */
async function onServer(
  server: EmbeddedServer,
  work: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  await work(client).finally(() => client.end());
}
