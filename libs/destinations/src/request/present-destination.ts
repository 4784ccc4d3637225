import type { Json } from '@secrets/domain';
import { type DestinationDescription, type Granularity, settingsOf } from '../description.ts';
import { type Field, fieldsThat } from '../fields/field.ts';
import type { Given } from './destination-content.ts';
import { isSame, isStillStored } from './given-fields.ts';
import { mask } from './parse-destination.ts';

/** Input from which the response that shows a destination is built. */
export interface DestinationView {
  name: string;
  settings: Readonly<Record<string, Json>>;
  /** The settings that were set, as they were given; null if that is not known. */
  given: Given | null;
  /** The names of the secret fields that are set. */
  credentialNames: Iterable<string>;
  /** The installation's prefix, in lower case. */
  prefix: string;
}

/**
 * Returns a destination as in responses (docs/conventions/sync.md#destinations): its settings as they were given, with
 * secrets masked and with the default template in place of an empty one.
 */
export function presentDestination(description: DestinationDescription, view: DestinationView) {
  const settings = settingsOf(description, view.settings, `destination ${view.name}`);
  return {
    type: description.type,
    name: view.name,
    connection_details: connectionDetails(description, view, settings),
    options: options(description, view, settings),
  };
}

type Shown = Record<string, Json>;

function connectionDetails(
  description: DestinationDescription,
  view: DestinationView,
  settings: Readonly<Record<string, Json>>,
): Shown {
  const credentials = new Set(view.credentialNames);
  const isSetSecret = (name: string) => description.fields[name]?.place === 'secret' && credentials.has(name);
  const shown = Object.entries(description.fields)
    .filter(([name, { place }]) => place === 'connection' || isSetSecret(name))
    .map(([name]) => [name, isSetSecret(name) ? mask : shownField(description, view.given, settings, name)]);
  const effective = fieldsThat(description, ({ derived }) => derived).map((field) => [
    `effective_${field}`,
    settings[field],
  ]);
  return withoutUndefined([...shown, ...effective] as [string, Json | undefined][]);
}

function options(
  description: DestinationDescription,
  view: DestinationView,
  settings: Readonly<Record<string, Json>>,
): Shown {
  const { nameRule } = description;
  const granularity = settings.granularity as Granularity;
  const others = fieldsThat(description, ({ place }) => place === 'option')
    .filter((field) => field !== 'granularity' && field !== 'secret_name_template')
    .map((field) => [field, shownField(description, view.given, settings, field)] as const);
  return {
    granularity_level: granularity,
    secret_name_template:
      (settings.secret_name_template as string) || nameRule.defaultTemplate(view.prefix, granularity),
    ...withoutUndefined(others),
  };
}

function shownField(
  description: DestinationDescription,
  given: Given | null,
  settings: Readonly<Record<string, Json>>,
  field: string,
): Json | undefined {
  const { derived, integer, ...declared } = description.fields[field] as Field;
  const initial = description.defaults[field];
  const value = settings[field] ?? null;
  const asGiven = given?.[field];
  if (asGiven !== undefined && isStillStored(description, field, asGiven, settings)) return asGiven;
  const isUnset = isSame(value, initial) || (given !== null && derived);
  if (isUnset) return 'shownUnset' in declared ? declared.shownUnset : (initial ?? null);
  return integer ? Number(value) : value;
}

const withoutUndefined = (fields: readonly (readonly [string, Json | undefined])[]): Shown =>
  Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Shown;
