import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import copy from 'pg-copy-streams';
import { types } from '../connections/open-postgres.ts';
import { noTransactionTimeout, sessionSettings } from '../connections/session.ts';
import { asUnavailable } from '../connections/unavailable.ts';
import type { Tx } from '../db.ts';

/**
 * A connection of its own, for work that reads or writes whole tables: its statements may take any time. Whoever opens it begins
 * and ends the transactions, with `script`.
 */
export interface CopySession extends Tx {
  /** Reads the rows that a `copy … to stdout` sends, a few at a time, as long as somebody takes them. */
  copyOut(text: string): AsyncIterable<Uint8Array>;
  /** Sends rows to a `copy … from stdin`, no faster than the server takes them. Returns their number. */
  copyIn(text: string, rows: AsyncIterable<Uint8Array>): Promise<number>;
  /** Ends the connection, which rolls back what was not committed. */
  close(): Promise<void>;
}

const connectMs = 10_000;

/** Statements that wait for a lock fail with `unavailable` after this time. */
const lockTimeoutMs = 60_000;

/** A scan of a whole table is what this connection is for. */
const ownSettings = {
  ...sessionSettings({ statementTimeoutMs: 0, lockTimeoutMs }),
  idle_in_transaction_session_timeout: '0',
  enable_seqscan: 'on',
  enable_bitmapscan: 'on',
  row_security: 'off', // an error rather than a part of the rows
};

/** Opens a connection to a Postgres server (15 or newer). It must lead to the server itself, not to a pooler. */
export async function openCopySession(url: string, applicationName: string): Promise<CopySession> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    application_name: applicationName,
    types,
  });
  client.on('error', () => undefined); // the statement that needs the connection fails
  await client.connect().catch(asUnavailable);
  for (const [name, value] of Object.entries(ownSettings))
    await client.query('select set_config($1, $2, false)', [name, value]);
  await client.query(noTransactionTimeout);
  return {
    query: async <Row>(text: string, params: readonly unknown[] = []) =>
      (await client.query(text, [...params])).rows as Row[],
    script: async (text) => void (await client.query(text)),
    copyOut: (text) => client.query(copy.to(text)),
    copyIn: async (text, rows) => {
      const sink = client.query(copy.from(text));
      await pipeline(rows, sink);
      return sink.rowCount;
    },
    close: () => client.end(),
  };
}
