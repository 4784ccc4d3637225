import { Problem } from '@secrets/domain';
import type { UnparsedRequest } from '@secrets/http';
import type { Audit } from '@secrets/telemetry';
import { type AuditedRequest, unparsedRequest } from './audited-request.ts';

/** The outcome of a request. */
interface Outcome {
  status: number;
  /** Why it was refused or failed; null if it succeeded. */
  reason: string | null;
  /** Keyed hashes of the token that the response contains, and of its accessor. */
  issued?: { token: string | null; accessor: string | null } | undefined;
  /** Keyed hash of the accessor of the token that was wrapped. */
  wrappedAccessor?: string | undefined;
}

/** The two audit lines of one request: the first is written, the second is not yet. */
export interface AuditTrail {
  /**
   * Writes the line of the outcome; the response must not be sent before it resolves. Later calls do nothing: a request
   * has one outcome.
   * @throws a problem (`unavailable`) if the line cannot be written
   */
  end(outcome: Outcome): Promise<void>;
}

/**
 * Writes the line of a request; nothing may be done for it before this resolves. `reason` is why it is refused; null if
 * it is not.
 * @throws a problem (`unavailable`) if the line cannot be written
 */
export async function beginTrail(
  audit: Audit,
  request: AuditedRequest,
  reason: string | null,
  started: number,
): Promise<AuditTrail> {
  const fields = JSON.stringify(request).slice(1, -1); // the same in both lines
  await write(audit, 'request', `${fields},"reason":${JSON.stringify(reason)}`);
  let hasEnded = false;
  return {
    end: async (outcome) => {
      if (hasEnded) return;
      hasEnded = true;
      await write(audit, 'response', `${fields},${outcomeFields(outcome, started)}`);
    },
  };
}

/** Writes the only line of a request that is refused because it is not valid HTTP. */
export function writeUnparsed(audit: Audit, refused: UnparsedRequest): Promise<void> {
  const { requestId, remoteAddress, status, reason } = refused;
  const request = unparsedRequest({ request_id: requestId, remote_address: remoteAddress, path: '' });
  const outcome = outcomeFields({ status, reason }, performance.now());
  return write(audit, 'response', `${JSON.stringify(request).slice(1, -1)},${outcome}`);
}

function outcomeFields({ status, reason, issued, wrappedAccessor }: Outcome, started: number): string {
  const fields = {
    status,
    reason,
    issued_token: issued?.token ?? null,
    issued_accessor: issued?.accessor ?? null,
    wrapped_accessor: wrappedAccessor, // omitted if undefined
    duration_ms: Number((performance.now() - started).toFixed(3)),
  };
  return JSON.stringify(fields).slice(1, -1);
}

async function write(audit: Audit, type: 'request' | 'response', fields: string): Promise<void> {
  try {
    await audit.write(type, fields);
  } catch (cause) {
    throw new Problem('unavailable', 'the audit log cannot be written', { cause });
  }
}
