import { isNativeError } from 'node:util/types';
import { errorCode, Fault } from '@secrets/domain';

const networkCodes = /^(E[A-Z]{3,}|ERR_SOCKET.*|ERR_STREAM.*|HPE_.*|EAI_.*|UND_ERR_SOCKET)$/;
const timeoutCodes = /^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/;
const tlsCodes = /CERT|ERR_TLS|ERR_SSL|SELF_SIGNED|UNABLE_TO_/;

/**
 * Returns the fault of a call that failed without a usable response: connection, TLS, timeout, abort, or a refusal of the
 * egress guard. Returns undefined for any other error, which is then a bug and must be thrown as it is. Of a failed `fetch`,
 * its cause decides.
 */
export function networkFault(operation: string, error: Error): Fault | undefined {
  const reason = networkReason(error);
  if (reason !== undefined) return new Fault('unavailable', `${operation}: ${reason}`);
  if (error.cause instanceof Fault) return error.cause;
  return isNativeError(error.cause) ? networkFault(operation, error.cause) : undefined;
}

function networkReason(error: Error): string | undefined {
  const code = errorCode(error) ?? '';
  if (/HEADERS?_OVERFLOW$/.test(code)) return 'the service sent headers of more than 16 KiB';
  if (timeoutCodes.test(code)) return 'the service did not respond in time';
  if (tlsCodes.test(code)) return `the service's certificate was not accepted (${code})`;
  if (networkCodes.test(code)) return `the connection failed (${code})`;
  if (error.name === 'AbortError') return 'the call was aborted at its time limit';
  if (error.name === 'TimeoutError') return 'the service did not respond in time';
  return error.message === 'socket hang up' ? 'the connection was closed' : undefined;
}
