import type { Decision } from '@secrets/access';
import { effectivePolicies } from '@secrets/caller';
import { pathNames } from '@secrets/domain';
import { currentSpan } from '@secrets/telemetry';
import type { GatewayRequest } from '../request/gateway-request.ts';
import type { AuditHash } from './audit-hash.ts';

/** The part of a request's two audit lines that is known when the request is authorized. */
export interface AuditedRequest {
  request_id: string;
  /** That of the trace of which the request is a part. */
  trace_id?: string | undefined;
  remote_address: string;
  namespace: string;
  operation: string;
  /** As it was requested. */
  path: string;
  /** The own name of a path that was requested by an alternative one. */
  resolved_path?: string;
  /** Keyed hash of the token that was sent. */
  token: string | null;
  /** Keyed hash. */
  accessor: string | null;
  display_name: string | null;
  entity_id: string | null;
  policies: readonly string[];
  allowed: boolean;
}

export function decidedRequest(request: GatewayRequest, decision: Decision, hash: AuditHash): AuditedRequest {
  const { caller, allowed } = decision;
  const { path } = pathNames(request.path);
  // Anybody can send a refused request, so it must not fill the disk.
  const written = allowed ? (text: string) => text : shortened;
  return {
    request_id: request.requestId,
    trace_id: currentSpan()?.traceId, // omitted if undefined
    remote_address: request.remoteAddress,
    namespace: written(caller.namespace.path),
    operation: request.operation,
    path: written(request.path),
    ...(path === request.path ? {} : { resolved_path: written(path) }),
    ...hash.ofCaller(request.token, caller.accessor),
    display_name: caller.displayName === '' ? null : caller.displayName,
    entity_id: caller.entityId,
    policies: effectivePolicies(caller),
    allowed,
  };
}

/** A request that is refused because its headers, its path or its HTTP cannot be parsed. */
export const unparsedRequest = (
  known: Pick<AuditedRequest, 'request_id' | 'remote_address'> & { path: string },
): AuditedRequest => ({
  request_id: known.request_id,
  trace_id: currentSpan()?.traceId,
  remote_address: known.remote_address,
  namespace: '',
  operation: 'unknown',
  path: shortened(known.path),
  token: null,
  accessor: null,
  display_name: null,
  entity_id: null,
  policies: [],
  allowed: false,
});

const maxRefusedText = 256;

const shortened = (text: string): string =>
  text.length <= maxRefusedText ? text : `${text.slice(0, maxRefusedText)}…`;
