import type { Sql } from '@secrets/db';
import { canonicalJson } from '@secrets/domain';
import { type KeyRing, keyedHash, matchesKeyedHash } from '@secrets/seal';

/** The columns of a row that a keyed hash binds together. */
export interface BoundRow {
  table:
    | 'login.tokens'
    | 'login.policies'
    | 'login.token_roles'
    | 'login.cloudb_roles'
    | 'login.jwt_roles'
    | 'login.kubernetes_roles'
    | 'login.cloudb_configs'
    | 'login.jwt_configs'
    | 'login.kubernetes_configs';
  /** For the log. */
  name: string;
  /** Strings, numbers, booleans, times, arrays and JSON, in the same form when they are written and when they are read. */
  values: readonly unknown[];
}

/** Finds rows that somebody without the row key has inserted or changed (docs/adr/0047-bound-rows.md). */
export interface RowGuard {
  /** The keyed hash of a new row; null without a key. */
  hashOf(row: BoundRow): string | null;
  /**
   * Whether a row is as it was written. A row without a hash, from an earlier version, is accepted until the current key is
   * bound.
   */
  accepts(row: BoundRow, hash: string | null): boolean;
}

/** Where rows that decide are read, and what decides whether they are believed. */
export interface RowSource {
  db: Sql;
  rows: RowGuard;
}

/** @param rowKeys undefined if rows are not protected */
export function rowGuard(
  rowKeys: KeyRing | undefined,
  onRejected: (row: BoundRow, hash: string | null) => void = () => undefined,
): RowGuard {
  if (rowKeys === undefined) return { hashOf: () => null, accepts: () => true };
  const matches = (row: BoundRow, hash: string | null) =>
    hash === null ? !rowKeys.current.isBound : matchesKeyedHash(rowKeys, row.table, textOf(row), hash);
  return {
    hashOf: (row) => keyedHash(rowKeys, row.table, textOf(row)),
    accepts: (row, hash) => {
      const isAccepted = matches(row, hash);
      if (!isAccepted) onRejected(row, hash);
      return isAccepted;
    },
  };
}

/** JSON of Postgres does not keep the order of names. */
const textOf = ({ values }: BoundRow): string =>
  canonicalJson(values.map((value) => (value instanceof Date ? value.toISOString() : value)));

interface RowGuardDeps {
  rowKeys?: KeyRing | undefined;
  log: { warn(fields: object, message: string): void };
  metrics: {
    counter(name: string, help: string): { inc(): void };
  };
}

/** The number of rejected rows that are remembered, so that each is logged once. */
const maxLogged = 1_000;

/** A guard that logs each row that it rejects once, and counts every rejection. */
export function reportingRowGuard({ rowKeys, log, metrics }: RowGuardDeps): RowGuard {
  const rejected = metrics.counter(
    'access_rows_rejected_total',
    'Reads of rows that are not as login has written them',
  );
  const logged = new Set<string>();
  return rowGuard(rowKeys, ({ table, name }, hash) => {
    rejected.inc();
    const row = `${table} ${name} ${hash}`;
    if (logged.has(row)) return;
    if (logged.size === maxLogged) logged.clear();
    logged.add(row);
    log.warn({ table, name }, 'a row is not as login has written it, and is not believed');
  });
}
