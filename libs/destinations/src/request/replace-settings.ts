import type { Json } from '@secrets/domain';
import type { DestinationDescription } from '../description.ts';
import { fieldsThat } from '../fields/field.ts';
import type { DestinationContent, EffectiveContent, NamedFields } from './destination-content.ts';
import { isSame } from './given-fields.ts';

// A write that replaces the settings of a destination (docs/conventions/sync.md#destinations): what it omits is reset,
// except for credentials and what cannot be changed.

/** Fields that a replacing write keeps: credentials, and those that cannot be changed. */
export function keptContent(
  { fields }: DestinationDescription,
  { settings, credentials, given }: DestinationContent,
): DestinationContent {
  const isKept = ([field]: [string, unknown]) =>
    fields[field]?.immutable === true || fields[field]?.credential === true;
  const keptOf = (all: Record<string, Json>) => Object.fromEntries(Object.entries(all).filter(isKept));
  return { settings: keptOf(settings), credentials, given: given && keptOf(given) };
}

/**
 * Derives what follows from the credentials. If a write that replaces the settings sets other credentials than the
 * stored ones and these exclude each other, the stored ones are removed: many clients cannot say so.
 */
export function withoutExcluded(
  description: DestinationDescription,
  {
    merged,
    known,
    before,
    isPatch,
  }: {
    merged: EffectiveContent;
    known: NamedFields;
    before: DestinationContent | undefined;
    isPatch: boolean;
  },
): EffectiveContent & { warnings: string[] } {
  const secretFields = fieldsThat(description, ({ place }) => place === 'secret');
  const credentialFields = fieldsThat(description, ({ credential }) => credential);
  const derived = ({ settings, credentials }: EffectiveContent): EffectiveContent => ({
    settings: { ...(description.derive?.(settings, credentials) ?? settings) },
    credentials,
  });
  const all = derived(merged);
  const named = namesIn(known);
  const signIn = [...secretFields, ...credentialFields, 'identity_token_audience'];
  if (isPatch || before === undefined || !signIn.some((field) => named.has(field)))
    return { ...all, warnings: [] };
  const isOld = (field: string) => !named.has(field);
  const others = derived({
    settings: { ...merged.settings, ...pick(description.defaults, credentialFields.filter(isOld)) },
    credentials: pick(
      merged.credentials,
      secretFields.filter((field) => !isOld(field)),
    ),
  });
  const isRefused = ({ settings, credentials }: EffectiveContent) =>
    description.check(settings, new Set(Object.keys(credentials))).length > 0;
  if (!isRefused(all) || isRefused(others)) return { ...all, warnings: [] };
  const removed = secretFields.filter((field) => isOld(field) && merged.credentials[field] !== undefined);
  return {
    ...others,
    warnings: removed.map((field) => `${field} was removed, because it cannot be combined with what was set`),
  };
}

const pick = <Value>(
  from: Readonly<Record<string, Value>>,
  names: readonly string[],
): Record<string, Value> => Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));

/** Names what a write has reset because it omits it. */
export function resetWarnings(
  settings: Record<string, Json>,
  {
    existing,
    known,
    isPatch,
  }: { existing: DestinationContent | undefined; known: NamedFields; isPatch: boolean },
): string[] {
  if (existing === undefined || isPatch) return [];
  const named = namesIn(known);
  const reset = Object.keys(settings).filter(
    (field) =>
      !named.has(field) &&
      existing.settings[field] !== undefined &&
      !isSame(existing.settings[field], settings[field]),
  );
  return reset.length === 0
    ? []
    : [
        `reset to the default, because the request omits it: ${reset.sort().join(', ')}; PATCH keeps what it omits`,
      ];
}

const namesIn = ({ set, reset }: NamedFields): Set<string> =>
  new Set([...set.map(([field]) => field), ...reset]);
