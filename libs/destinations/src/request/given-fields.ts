import { isJsonObject, type Json, stringList } from '@secrets/domain';
import type { DestinationDescription } from '../description.ts';
import { fieldsThat } from '../fields/field.ts';
import type { DestinationContent, Given, NamedFields } from './destination-content.ts';

/** Longer ones are shown as they are stored. */
const maxCharacters = 8_192;

/** Fields of a request as they were given, stored beside the settings so that a read returns them. */
export function givenFields(
  description: DestinationDescription,
  {
    set,
    reset,
    settings,
    before,
  }: NamedFields & { settings: Record<string, Json>; before: DestinationContent | undefined },
): Given {
  const shown = fieldsThat(description, (field) => 'default' in field && !field.shownAsStored);
  const isUnset = (field: string, value: unknown) =>
    String(value) === String(description.fields[field]?.shownUnset ?? '');
  const fields = set.filter(([field]) => shown.includes(field));
  const given: Given = { ...(before?.given ?? setIn(description, before?.settings ?? {})) };
  for (const field of [...reset, ...fields.map(([name]) => name)]) delete given[field];
  for (const [field, value] of fields) {
    const stored = settings[field];
    if (stored === undefined || isUnset(field, value)) continue;
    given[field] = description.fields[field]?.integer ? Number(stored) : asGiven(value, stored);
  }
  return Object.fromEntries(
    Object.entries(given).filter(([field, value]) => isStillStored(description, field, value, settings)),
  );
}

/**
 * Derives the given fields of a destination that was stored without them: the settings that differ from the defaults.
 */
const setIn = ({ defaults }: DestinationDescription, settings: Record<string, Json>): Given =>
  Object.fromEntries(Object.entries(settings).filter(([field, value]) => !isSame(value, defaults[field])));

function asGiven(value: unknown, stored: Json): Json {
  if (JSON.stringify(value).length > maxCharacters) return stored;
  if (typeof value === 'string' && typeof stored === 'string') return value;
  if (isJsonObject(value)) return value as Json;
  const items = stringList.safeParse(value).data;
  return items !== undefined && isListOfTexts(stored) ? items : stored;
}

const isListOfTexts = (stored: Json): boolean =>
  Array.isArray(stored) && stored.every((item) => typeof item === 'string');

/** Whether a value, as it was given, still is what is stored: an instance of an older version may have changed that. */
export function isStillStored(
  { body, derive }: DestinationDescription,
  field: string,
  value: Json,
  settings: Readonly<Record<string, Json>>,
): boolean {
  const parsed = body.safeParse({ [field]: value });
  if (!parsed.success) return false;
  const meant = { ...settings, [field]: parsed.data[field] as Json };
  return isSame((derive?.(meant, {}) ?? meant)[field], settings[field]);
}

export const isSame = (one: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
