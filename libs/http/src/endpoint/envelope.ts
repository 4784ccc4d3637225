import type { ServerResponse } from 'node:http';
import type { Sealed } from '@secrets/seal';

/** Result of a handler, from which the response is built. `undefined` becomes a 204. */
export interface Reply {
  data?: unknown;
  /** The `auth` object of a login or token call. */
  auth?: unknown;
  warnings?: readonly string[];
  /** `system` for `sys/sync/config` (docs/conventions/http.md#envelope). */
  mountType?: string;
  /** Default 200. A deleted version is a 404 with its metadata. */
  status?: number;
  /** The `wrap_info` of a response that was wrapped. */
  wrapInfo?: unknown;
  /** The body of a response that was stored when it was wrapped, as JSON. It takes the place of everything else. */
  stored?: Sealed<string>;
  /**
   * A document, which is sent without the envelope and takes the place of everything else but the status. By default,
   * it may not be cached.
   */
  document?: { content: unknown; maxAgeSeconds?: number };
  /** Whether the fields of `data` are also outside of it, for clients that read them there. */
  isFlat?: true;
  /**
   * Writes server-sent events, and ends the response itself, at the latest when that emits `stopping`. Nothing else of the
   * reply is sent.
   */
  eventStream?: (response: ServerResponse) => void;
}

/** The envelope of every successful response (docs/conventions/http.md#envelope). */
export function envelope(requestId: string, reply: Reply): Record<string, unknown> {
  return {
    ...(reply.isFlat ? (reply.data as object) : {}),
    request_id: requestId,
    lease_id: '',
    lease_duration: 0,
    renewable: false,
    data: reply.data ?? null,
    wrap_info: reply.wrapInfo ?? null,
    warnings: reply.warnings?.length ? reply.warnings : null,
    auth: reply.auth ?? null,
    ...(reply.mountType === undefined ? {} : { mount_type: reply.mountType }),
  };
}

/**
 * The body of a stored response with the ID of the request that reads it. Nothing is parsed, so that numbers keep all their
 * digits.
 */
export const restoredEnvelope = (requestId: string, stored: Sealed<string>): string =>
  stored.reveal().replace(/^\{"request_id":"[^"]*"/, () => `{"request_id":${JSON.stringify(requestId)}`);
