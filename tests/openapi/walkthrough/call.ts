/** Sends the request of an operation, such as `GET sys/mounts/{path}`. Parameters that are not in the path are in the query. */
export type Call = (
  operation: string,
  parameters?: Record<string, string>,
  body?: unknown,
  headers?: Record<string, string>,
  // biome-ignore lint/suspicious/noExplicitAny: a walkthrough reads any field of a response
) => Promise<any>;
