import { errorCode } from '@secrets/domain';

/** A statement's parameters: JSON goes in as text (`JSON.stringify`) with a `::jsonb` cast, arrays as arrays with `::text[]`. */
export type Params = readonly unknown[];

/** Somewhere to run one statement: the pool, or one transaction of it. */
export interface Sql {
  /**
   * Runs one statement and gives its rows. `int8` comes back as a number, `timestamptz` as a Date, `bytea` as a
   * Uint8Array, `jsonb` as a value; the same on both sides.
   */
  query<Row>(text: string, params?: Params): Promise<Row[]>;
}

/** One transaction. */
export interface Tx extends Sql {
  /** Runs a script of several statements without parameters, for migrations. */
  script(text: string): Promise<void>;
}

/**
 * The database of one service: a pool of connections to Postgres, or PGlite in this process.
 * The embedded side is a single connection: inside `transaction`, only `tx` may be used; using the outer `Db`
 * there throws on both sides instead of hanging on one.
 */
export interface Db extends Sql {
  readonly kind: 'postgres' | 'embedded';
  /** Runs `work` in one transaction (read committed): committed when it resolves, rolled back when it throws. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const foreignKeyViolation = '23503';
const uniqueViolation = '23505';

/** Whether an error is Postgres' foreign key violation: what a row refers to is gone, or is still referred to. */
export const isForeignKeyViolation = (error: unknown): boolean => errorCode(error) === foreignKeyViolation;

/** Whether an error is Postgres' unique violation, of the named constraint if one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (errorCode(error) !== uniqueViolation) return false;
  return constraint === undefined || (error as { constraint?: string }).constraint === constraint;
}
