/** What a handler answers with; `undefined` instead of a reply is 204. */
export interface Reply {
  data?: unknown;
  /** The `auth` object of a login or token call. */
  auth?: unknown;
  warnings?: readonly string[];
  /** `system` for `sys/sync/config` (docs/conventions.md#14-envelope). */
  mountType?: string;
  /** When it is not 200, such as 404 with the metadata of a deleted version. */
  status?: number;
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
