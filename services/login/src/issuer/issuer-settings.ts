import { identityTokenSeconds, invalid } from '@secrets/domain';
import { secondsBetween } from '@secrets/http';
import { z } from 'zod';
import type { IssuerRow } from '../queries/identity-issuer.ts';

const hour = 3_600;
const day = 24 * hour;

const notBaseUrl = 'must be an http or https URL without user name, query and fragment';

/** The public base URL of this installation. A trailing slash is dropped. */
const baseUrl = z
  .string({ error: 'must be a string' })
  .trim()
  .max(1_024, 'must not be longer than 1024 characters')
  .refine(isBaseUrl, notBaseUrl)
  .transform((url) => url.replace(/\/+$/, ''));

const urlPattern = {
  type: 'string',
  pattern: '^https://[a-z][a-z0-9]{0,30}(?:\\.[a-z][a-z0-9]{0,30}){1,3}(?:/[A-Za-z0-9_-]{1,30}){0,3}/?$',
};

/** The body of `identity/oidc/config` (docs/conventions/access.md#identity-token-issuer). Omitted fields keep their values. */
export const IssuerBody = z.object({
  /** Empty removes the configuration. */
  issuer: z
    .union([z.literal(''), baseUrl], { error: notBaseUrl })
    .meta(urlPattern)
    .optional(),
  rotation_period: secondsBetween(hour, 365 * day, '1h and 365d').optional(),
  /** No less than the longest lifetime of a token. */
  verification_ttl: secondsBetween(identityTokenSeconds.most, 365 * day, '24h and 365d').optional(),
});
export type IssuerBody = z.infer<typeof IssuerBody>;

/** A request merged into what is stored. Throws `invalid` if the result has no issuer. */
export function mergedIssuer(stored: IssuerRow | undefined, body: IssuerBody): IssuerRow {
  const issuer = body.issuer ?? stored?.issuer;
  if (issuer === undefined) throw invalid('issuer: is required');
  return {
    issuer,
    rotationSeconds: body.rotation_period ?? stored?.rotationSeconds ?? day,
    verificationSeconds: body.verification_ttl ?? stored?.verificationSeconds ?? day,
  };
}

/** The issuer in tokens: the base URL of the documents that verify them. */
export const issuerOf = ({ issuer }: Pick<IssuerRow, 'issuer'>): string =>
  `${issuer}/v1/identity/oidc/plugins`;

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#]/.test(text)
  );
}
