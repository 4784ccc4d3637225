/** What a handler returns; `undefined` becomes a 204. */
export interface Reply {
  data?: unknown;
  /** The `auth` object of a login or token call. */
  auth?: unknown;
  warnings?: readonly string[];
  /** `system` for `sys/sync/config` (docs/conventions.md#14-envelope). */
  mountType?: string;
  /** Default 200. A deleted version is a 404 with its metadata. */
  status?: number;
  /** A public document, which is sent without the envelope and may be cached. It takes the place of everything else. */
  document?: { content: unknown; maxAgeSeconds: number };
}

/** The envelope of every successful response (docs/conventions.md#14-envelope). */
export function envelope(requestId: string, reply: Reply): Record<string, unknown> {
  return {
    request_id: requestId,
    lease_id: '',
    lease_duration: 0,
    renewable: false,
    data: reply.data ?? null,
    wrap_info: null,
    warnings: reply.warnings?.length ? reply.warnings : null,
    auth: reply.auth ?? null,
    ...(reply.mountType === undefined ? {} : { mount_type: reply.mountType }),
  };
}
