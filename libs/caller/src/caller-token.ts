import { type Sealed, seal } from '@secrets/seal';

/**
 * The header with the token that the client has sent. Only requests to paths that return or consume this token have it
 * (docs/security.md#calls-between-services). It is not part of the assertion, so a receiver must compare it with the caller.
 */
export const callerTokenHeader = 'x-caller-token';

/** The value of the header; undefined if there is none. */
export const callerToken = (header: string | undefined): Sealed<string> | undefined =>
  header === undefined || header === '' ? undefined : seal(header);
