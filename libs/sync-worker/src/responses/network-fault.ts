import { errorCode, Fault } from '@secrets/domain';

const networkCodes = /^(E[A-Z]{3,}|ERR_SOCKET.*|ERR_STREAM.*|HPE_.*|EAI_.*)$/;
const tlsCodes = /CERT|ERR_TLS|ERR_SSL|SELF_SIGNED|UNABLE_TO_/;

/**
 * Returns the fault of a call that failed without a usable response: connection, TLS, timeout or abort. Returns
 * undefined for any other error, which is then a bug and must be thrown as it is.
 */
export function networkFault(operation: string, error: Error): Fault | undefined {
  const reason = networkReason(error);
  return reason === undefined ? undefined : new Fault('unavailable', `${operation}: ${reason}`);
}

function networkReason(error: Error): string | undefined {
  const code = errorCode(error) ?? '';
  if (tlsCodes.test(code)) return `the service's certificate was not accepted (${code})`;
  if (networkCodes.test(code)) return `the connection failed (${code})`;
  if (error.name === 'AbortError') return 'the call was aborted at its time limit';
  if (error.name === 'TimeoutError') return 'the service did not respond in time';
  return error.message === 'socket hang up' ? 'the connection was closed' : undefined;
}
