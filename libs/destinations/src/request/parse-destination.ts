import { destinationType, invalid, type Json, Problem, refuseProtective } from '@secrets/domain';
import { type DestinationDescription, settingsOf } from '../description.ts';
import { fieldsThat } from '../fields/field.ts';
import { mergedTags, whyTagsRefused } from '../tags/custom-tags.ts';
import type { DestinationContent, EffectiveContent, Given } from './destination-content.ts';
import { givenFields } from './given-fields.ts';
import { templateProblem, valueKeyProblem } from './naming-problems.ts';
import { keptContent, resetWarnings, withoutExcluded } from './replace-settings.ts';

/** Shown in place of the value of a stored secret field. */
export const mask = '*****';

export interface ParseDestinationOptions {
  name: string;
  /** The body of the create or update request; null resets a field to its default. */
  body: Readonly<Record<string, unknown>>;
  /** The installation's prefix, in lower case. */
  prefix: string;
  /** The stored destination; undefined if it does not exist yet. */
  existing?: DestinationContent | undefined;
  /**
   * Whether omitted fields keep their values. Otherwise, only credentials do, and what cannot be changed; the others
   * are reset.
   */
  isPatch: boolean;
}

/** The destination that a request results in. */
export interface ParsedDestination extends DestinationContent {
  given: Given;
  warnings: string[];
}

/**
 * Returns the destination that a create or update request results in. Writing the mask back keeps a secret field, and
 * an empty value removes it. Throws `Problem` `invalid`, which names every invalid field and contains no values, and
 * what `settingsOf` throws for a stored field that the request does not replace.
 */
export function parseDestination(
  description: DestinationDescription,
  options: ParseDestinationOptions,
): ParsedDestination {
  const { existing, prefix, isPatch } = options;
  const { known, unknown } = sortFields(description, options);
  for (const field of unknown) refuseProtective(field, options.body[field]);
  refuseFederation(description, options.body);
  const masked = known.set.filter(([field, value]) => value === mask && isSecret(description, field));
  const unmasked = known.set.filter((entry) => !masked.includes(entry));
  const parsed = { ...parseFields(description, unmasked), ...Object.fromEntries(masked) };
  const before = existing && !isPatch ? keptContent(description, existing) : existing;
  const merged = withoutExcluded(description, {
    merged: merge(description, parsed, { reset: known.reset, existing: before, name: options.name }),
    known,
    before,
    isPatch,
  });
  const { settings, credentials } = merged;
  if (isDefaultTemplate(description, settings.secret_name_template, prefix))
    settings.secret_name_template = '';
  refuse([
    ...immutableProblems(description, settings, existing),
    ...description.check(settings, new Set(Object.keys(credentials))),
    ...whyTagsRefused(description, settings.custom_tags, prefix),
    ...templateProblem(description, settings),
    ...valueKeyProblem(settings),
  ]);
  return {
    settings,
    credentials,
    given: givenFields(description, { set: known.set, settings, reset: known.reset, before }),
    warnings: [
      ...unknown.map((field) => `unknown field ${field} was ignored`),
      ...merged.warnings,
      ...resetWarnings(settings, { existing, known, isPatch }),
    ],
  };
}

/** Clients send the template back that they were shown, also together with another granularity. */
const isDefaultTemplate = (
  { nameRule }: DestinationDescription,
  template: Json | undefined,
  prefix: string,
) =>
  (['secret-path', 'secret-key'] as const).some(
    (granularity) => template === nameRule.defaultTemplate(prefix, granularity),
  );

function sortFields({ fields, type }: DestinationDescription, { body, name }: ParseDestinationOptions) {
  const inPath = new Set(['type', 'name']);
  const isSame = (field: string, value: unknown) =>
    field === 'type' ? typeof value === 'string' && destinationType(value) === type : value === name;
  const isAbsent = (field: string, value: unknown) =>
    value === undefined || (value === '' && fields[field]?.schema.safeParse('').success === false);
  const entries = Object.entries(body).filter(([field, value]) => !isAbsent(field, value));
  for (const [field, value] of entries) {
    if (inPath.has(field) && !isSame(field, value))
      throw invalid(`${field}: is part of the path and cannot be changed`);
  }
  const isKnown = (field: string) => Object.hasOwn(fields, field);
  const known = entries.filter(([field]) => isKnown(field));
  return {
    known: {
      set: known.filter(([, value]) => value !== null),
      reset: known.filter(([, value]) => value === null).map(([field]) => field),
    },
    unknown: entries
      .map(([field]) => field)
      .filter((field) => !isKnown(field) && !inPath.has(field) && !isFederation(field)),
  };
}

const isFederation = (field: string): boolean =>
  field === 'identity_token_audience' || field === 'identity_token_ttl';

/** Ignoring these fields would create a destination that never syncs. */
function refuseFederation(
  { fields, type }: DestinationDescription,
  body: Readonly<Record<string, unknown>>,
): void {
  const isRefused = (field: string) => isFederation(field) && !Object.hasOwn(fields, field);
  const asked = Object.keys(body).filter((field) => isRefused(field) && isSet(body[field]));
  refuse(asked.map((field) => `${field}: ${type} has no federation; set credentials`));
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && value !== 0;

function parseFields({ body }: DestinationDescription, given: [string, unknown][]): Record<string, unknown> {
  const parsed = body.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`);
  refuse([...new Set(sentences)]);
  return {};
}

const isSecret = ({ fields }: DestinationDescription, field: string): boolean =>
  fields[field]?.place === 'secret';

function merge(
  description: DestinationDescription,
  { tags_to_remove: tagsToRemove = [], custom_tags: givenTags, ...given }: Record<string, unknown>,
  {
    reset,
    existing,
    name,
  }: { reset: readonly string[]; existing: DestinationContent | undefined; name: string },
): EffectiveContent {
  const isKept = ([field]: [string, unknown]) => !reset.includes(field) && given[field] === undefined;
  const kept = Object.fromEntries(Object.entries(existing?.settings ?? {}).filter(isKept));
  const settings: Record<string, Json> = { ...settingsOf(description, kept, `destination ${name}`) };
  const credentials = { ...existing?.credentials };
  for (const field of reset) delete credentials[field];
  for (const [field, value] of Object.entries(given)) {
    if (isSecret(description, field)) setSecret(credentials, field, String(value));
    else settings[field] = value as Json;
  }
  if (description.supportsTags) {
    settings.custom_tags = mergedTags(settings.custom_tags, givenTags, tagsToRemove as string[]);
  }
  return { settings, credentials };
}

function setSecret(credentials: Record<string, string>, field: string, value: string): void {
  if (value === mask) {
    if (credentials[field] !== undefined) return;
    throw invalid(`${field}: ${mask} is the mask of a stored value, but none is stored`);
  }
  if (value.startsWith('@'))
    throw invalid(
      `${field}: begins with @, but files are not read on behalf of a request; set the content of the file`,
    );
  if (value === '') delete credentials[field];
  else credentials[field] = value;
}

function immutableProblems(
  description: DestinationDescription,
  settings: Record<string, Json>,
  existing: DestinationContent | undefined,
): string[] {
  if (!existing) return [];
  return fieldsThat(description, ({ immutable }) => immutable)
    .filter((field) => JSON.stringify(settings[field]) !== JSON.stringify(existing.settings[field]))
    .map((field) => `${field}: cannot be changed after the destination is created`);
}

function refuse(sentences: readonly string[]): void {
  const [first, ...also] = sentences;
  if (first !== undefined) throw new Problem('invalid', first, { also });
}
