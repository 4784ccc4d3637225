import type { IncomingMessage } from 'node:http';
import type { Span } from '@secrets/telemetry';
import { healthPath, rawPath } from '../request/gateway-request.ts';

/** The span of a request, which continues the trace of the client. Checks of the health, of which there are many, have none. */
export function spanOf(request: IncomingMessage) {
  if (rawPath(request) === `/v1/${healthPath}`) return undefined;
  const { traceparent } = request.headers;
  return { name: 'request', kind: 'server' as const, parent: traceparent?.toString() };
}

/** Names the span after what was requested, without its path. */
export function endSpan(
  span: Span,
  { requestId, operation, upstream }: { requestId: string; operation: string; upstream: string },
  status: number,
): void {
  span.rename(`${operation} ${upstream}`);
  span.set({ request_id: requestId, operation, upstream, 'http.response.status_code': status });
  if (status >= 500) span.fail(String(status));
}
