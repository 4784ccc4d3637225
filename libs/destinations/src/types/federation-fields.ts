import { audienceCharacters, identityTokenSeconds, type Json, secondsBetween } from '@secrets/domain';
import { text } from './common-fields.ts';
import { withHelp } from './field-help.ts';

const { least, most, usual } = identityTokenSeconds;

/** The fields of types whose provider can trust the service's identity tokens (docs/conventions.md#523-federation-of-destinations). */
export const federationFields = withHelp(
  {
    identity_token_audience: text(4_096).refine(
      (given) => given.length < audienceCharacters,
      `must have fewer than ${audienceCharacters} characters`,
    ),
    identity_token_ttl: secondsBetween(least, most, '1m and 24h'),
  },
  {
    identity_token_audience:
      'Audience of the identity tokens with which the destination authenticates, instead of with a stored secret.',
    identity_token_ttl: 'Lifetime of an identity token, from 1m to 24h.',
  },
);

/** The defaults of `federationFields`. */
export const federationDefaults: Record<string, Json> = {
  identity_token_audience: '',
  identity_token_ttl: usual,
};

/** Where both are shown. */
export const federationConnectionFields = ['identity_token_audience', 'identity_token_ttl'];

/** What a type requires and excludes when a destination uses federation. */
export interface FederationRule {
  requires: readonly string[];
  /** Settings and secret fields. */
  excludes: readonly string[];
}

/** Returns what is wrong with the combination of fields, if the destination uses federation. */
export function federationProblems(
  settings: Readonly<Record<string, Json>>,
  credentials: ReadonlySet<string>,
  { requires, excludes }: FederationRule,
): string[] {
  if (!isFederated(settings)) return [];
  const isSet = (field: string) =>
    credentials.has(field) || ![undefined, ''].includes(settings[field] as string);
  return [
    ...requires
      .filter((field) => !isSet(field))
      .map((field) => `${field}: is required with identity_token_audience`),
    ...excludes
      .filter(isSet)
      .map((field) => `${field}: cannot be combined with identity_token_audience; remove one of them`),
  ];
}

export const isFederated = ({ identity_token_audience: audience }: Readonly<Record<string, Json>>): boolean =>
  audience !== '' && audience !== undefined;
