import {
  audienceCharacters,
  identityTokenSeconds,
  type Json,
  seconds,
  secondsBetween,
} from '@secrets/domain';
import { z } from 'zod';
import { text } from './common-fields.ts';
import { connection } from './field.ts';

const { least, most, usual } = identityTokenSeconds;

/** 0 means the default, which is also how Vault reads it. */
const isZero = seconds.refine((given) => given === 0).transform(() => usual);

/**
 * The fields of types whose provider can trust the service's identity tokens
 * (docs/conventions/sync.md#federation-of-destinations).
 */
export const federationFields = {
  identity_token_audience: connection(
    text(4_096).refine(
      (given) => given.length < audienceCharacters,
      `must have fewer than ${audienceCharacters} characters`,
    ),
    {
      default: '',
      group: 'identity',
      help: 'Audience of the identity tokens with which the destination authenticates, instead of with a stored secret.',
    },
  ),
  identity_token_ttl: connection(
    z
      .union([isZero, secondsBetween(least, most, '1m and 24h')], { error: 'must be between 1m and 24h' })
      .meta({ type: 'integer', minimum: least, maximum: most }),
    {
      default: usual,
      shownUnset: 0,
      group: 'identity',
      help: 'Lifetime of an identity token, from 1m to 24h.',
    },
  ),
};

/** Fields that a type requires and excludes when a destination uses federation. */
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
