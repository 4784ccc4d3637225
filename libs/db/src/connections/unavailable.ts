import { errorCode, Problem } from '@secrets/domain';
import { UnsupportedSessionError } from './session.ts';
import { readOnlyTransaction } from './writable.ts';

const lockNotAvailable = '55P03';

/**
 * Turns a lost connection, a server that cannot work, or a lock that was not released in time, into the problem `unavailable`.
 * Throws anything else as it is.
 */
export function asUnavailable(error: unknown): never {
  if (errorCode(error) === lockNotAvailable)
    throw new Problem('unavailable', 'another operation is changing the same object; try again', {
      retryAfterSeconds: 1,
      cause: error,
    });
  if (!isConnectionLoss(error) && !isExhausted(error) && !(error instanceof UnsupportedSessionError))
    throw error;
  throw new Problem('unavailable', 'the database is unavailable', { cause: error });
}

/** The server has no disk space, memory or connections left (class 53), or cannot read or write its files. */
const isExhausted = (error: unknown): boolean => /^(53|58030$)/.test(errorCode(error) ?? '');

/** Whether the database did not respond, or a lock was not released in time. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof Problem && error.kind === 'unavailable';

/** Messages of pg for a broken or silent connection, and of its pool for a connection timeout. These errors have no code. */
const lossMessages =
  /Connection terminated|connection error and is not queryable|Query read timeout|timeout exceeded when trying to connect/;

/**
 * Whether no connection was available or it was lost: the server is starting, stopping or down, or has no free connection. A
 * connection to a server that accepts no writes counts as lost: the next one may lead to a server that does.
 */
export function isConnectionLoss(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return (
    code === readOnlyTransaction ||
    /^(08|57P|53300$|ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|EPIPE|ETIMEDOUT|ENOENT$)/.test(code) ||
    lossMessages.test(String(error))
  );
}
