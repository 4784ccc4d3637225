import { errorCode, notFound, Problem } from '@secrets/domain';

/** A statement's parameters: JSON goes in as text (`JSON.stringify`) with a `::jsonb` cast, arrays as arrays with `::text[]`. */
export type Params = readonly unknown[];

/** Somewhere to run one statement: the pool, or one transaction of it. */
export interface Sql {
  /**
   * Runs one statement and returns its rows. `int8` is returned as a number, `timestamptz` as a Date, `bytea` as a
   * Uint8Array, `jsonb` as a value.
   */
  query<Row>(text: string, params?: Params): Promise<Row[]>;
}

/** A page of a list: at most `limit` items, those behind `after` in the order of the list. */
export interface PageRange<After = string> {
  after: After;
  limit: number;
}

/** One transaction. */
export interface Tx extends Sql {
  /** Runs a script of several statements without parameters, for migrations. */
  script(text: string): Promise<void>;
}

interface TransactionOptions {
  /** Its statements may take any time, and wait for locks for any time: for migrations. Default false. */
  isUnlimited?: boolean;
}

/**
 * The database of one service: a pool of connections. Inside `transaction`, only `tx` may be used: the outer `Db` throws there,
 * because under load each transaction would wait for a second connection while holding the first.
 */
export interface Db extends Sql {
  /**
   * Runs `work` in one transaction (read committed): committed when it resolves, rolled back when it throws. After a
   * deadlock, it is rolled back and `work` runs once more, so `work` must not change anything but the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Returns the time by the clock of the server, in milliseconds since 1970. It decides about everything that is stored with
   * an end: the clocks of processes differ. What it returns before the first connection is the time of this process.
   */
  now(): number;
  close(): Promise<void>;
}

const foreignKeyViolation = '23503';
const uniqueViolation = '23505';

/** Whether an error is a foreign key violation: the referenced row is gone, or the row is still referenced. */
export const isForeignKeyViolation = (error: unknown): boolean => errorCode(error) === foreignKeyViolation;

/** Whether an error is a unique violation, of the named constraint if one is given. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (errorCode(error) !== uniqueViolation) return false;
  return constraint === undefined || (error as { constraint?: string }).constraint === constraint;
}

/**
 * Returns a handler that throws a unique violation as `conflict` with this sentence, and a foreign key violation as `not_found`:
 * the row that is referred to was deleted in the meantime. Other errors are thrown as they are.
 */
export const rethrowViolation =
  (sentence: string) =>
  (error: unknown): never => {
    if (isUniqueViolation(error)) throw new Problem('conflict', sentence);
    throw isForeignKeyViolation(error) ? notFound() : error;
  };
