import type { Reply } from './envelope.ts';

/**
 * Response headers with which a service reports to the gateway what belongs into the audit line of the outcome, so that the
 * gateway need not parse the body. The gateway passes none of them to the client.
 */
export const reasonHeader = 'x-audit-reason';
export const issuedTokenHeader = 'x-audit-issued-token';
export const issuedAccessorHeader = 'x-audit-issued-accessor';

const maxReason = 500;

/** The sentences of a refusal as the percent-encoded value of a header. */
export const reasonValue = (sentences: readonly string[]): string =>
  encodeURIComponent(sentences.join('; ').slice(0, maxReason).toWellFormed());

/**
 * The headers for the token that a response contains, if any: a login or a token was created, or a response was wrapped again.
 * A renewal returns no token.
 */
export function issuedHeaders(
  reply: Pick<Reply, 'auth' | 'wrapInfo'> | undefined,
): [name: string, value: string][] {
  const { client_token: created, accessor: ofCreated } = (reply?.auth ?? {}) as Record<string, unknown>;
  const { token = created, accessor = ofCreated } = (reply?.wrapInfo ?? {}) as Record<string, unknown>;
  if (typeof token !== 'string' || token === '') return [];
  const issued: [string, string][] = [[issuedTokenHeader, encodeURIComponent(token)]];
  if (typeof accessor === 'string' && accessor !== '')
    issued.push([issuedAccessorHeader, encodeURIComponent(accessor)]);
  return issued;
}
