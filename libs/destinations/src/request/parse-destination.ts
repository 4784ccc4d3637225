import { destinationType, invalid, type Json, Problem } from '@secrets/domain';
import type { DestinationDescription, Granularity } from '../description.ts';
import { whyTemplateRefused } from '../names/check-template.ts';
import { mergedTags, whyTagsRefused } from '../tags/custom-tags.ts';

/** Shown in place of the value of a stored secret field. */
export const mask = '*****';

/** A destination as it is stored: the settings, which are visible, and the credentials, which are encrypted. */
export interface DestinationContent {
  settings: Record<string, Json>;
  credentials: Record<string, string>;
}

export interface ParseDestinationOptions {
  name: string;
  /** The body of the create or update request. An update keeps what it omits; null resets a field to its default. */
  body: Readonly<Record<string, unknown>>;
  /** The installation's prefix, in lower case. */
  prefix: string;
  /** The stored destination; undefined if it does not exist yet. */
  existing?: DestinationContent | undefined;
}

/**
 * Returns the destination that a create or update request results in. Writing the mask back keeps a secret field, and
 * an empty value removes it. Throws `Problem` `invalid`, which names every invalid field and contains no values.
 */
export function parseDestination(
  description: DestinationDescription,
  options: ParseDestinationOptions,
): DestinationContent & { warnings: string[] } {
  const { known, unknown } = sortFields(description, options);
  refuseFederation(description, options.body);
  const masked = known.set.filter(
    ([field, value]) => value === mask && description.secretFields.includes(field),
  );
  const unmasked = known.set.filter((entry) => !masked.includes(entry));
  const given = { ...parseFields(description, unmasked), ...Object.fromEntries(masked) };
  const { settings: merged, credentials } = merge(description, given, known.reset, options);
  const settings = description.derive?.(merged, credentials) ?? merged;
  const template = description.nameRule.defaultTemplate(options.prefix, settings.granularity as Granularity);
  if (settings.secret_name_template === template) settings.secret_name_template = '';
  refuse([
    ...immutableProblems(description, settings, options.existing),
    ...description.check(settings, new Set(Object.keys(credentials))),
    ...whyTagsRefused(description, settings.custom_tags, options.prefix),
    ...templateProblem(description, settings),
  ]);
  return { settings, credentials, warnings: unknown.map((field) => `unknown field ${field} was ignored`) };
}

function sortFields({ fields, type }: DestinationDescription, { body, name }: ParseDestinationOptions) {
  const inPath = new Set(['type', 'name']);
  const isSame = (field: string, value: unknown) =>
    field === 'type' ? typeof value === 'string' && destinationType(value) === type : value === name;
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  for (const [field, value] of entries) {
    if (inPath.has(field) && !isSame(field, value))
      throw invalid(`${field}: is part of the path and cannot be changed`);
  }
  const isKnown = (field: string) => Object.hasOwn(fields.shape, field);
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
  const isRefused = (field: string) => isFederation(field) && !Object.hasOwn(fields.shape, field);
  const asked = Object.keys(body).filter((field) => isRefused(field) && isSet(body[field]));
  refuse(asked.map((field) => `${field}: ${type} has no federation; set credentials`));
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && value !== 0;

function parseFields(
  { fields }: DestinationDescription,
  given: [string, unknown][],
): Record<string, unknown> {
  const parsed = fields.partial().safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const sentences = parsed.error.issues.map(({ path, message }) => `${String(path[0])}: ${message}`);
  refuse([...new Set(sentences)]);
  return {};
}

function merge(
  description: DestinationDescription,
  { tags_to_remove: tagsToRemove = [], custom_tags: givenTags, ...given }: Record<string, unknown>,
  reset: readonly string[],
  { existing }: ParseDestinationOptions,
): DestinationContent {
  const isSecret = (field: string) => description.secretFields.includes(field);
  const settings = { ...description.defaults, ...existing?.settings };
  const credentials = { ...existing?.credentials };
  for (const field of reset) {
    if (isSecret(field)) delete credentials[field];
    else if (Object.hasOwn(description.defaults, field))
      settings[field] = description.defaults[field] as Json;
  }
  for (const [field, value] of Object.entries(given)) {
    if (isSecret(field)) setSecret(credentials, field, String(value));
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
  { immutableFields }: DestinationDescription,
  settings: Record<string, Json>,
  existing: DestinationContent | undefined,
): string[] {
  if (!existing) return [];
  return immutableFields
    .filter((field) => JSON.stringify(settings[field]) !== JSON.stringify(existing.settings[field]))
    .map((field) => `${field}: cannot be changed after the destination is created`);
}

function templateProblem(description: DestinationDescription, settings: Record<string, Json>): string[] {
  const { secret_name_template: template, granularity } = settings;
  if (typeof template !== 'string' || template === '') return [];
  const reason = whyTemplateRefused(description, template, granularity as Granularity);
  return reason === undefined ? [] : [`secret_name_template: ${reason}`];
}

function refuse(sentences: readonly string[]): void {
  const [first, ...also] = sentences;
  if (first !== undefined) throw new Problem('invalid', first, { also });
}
