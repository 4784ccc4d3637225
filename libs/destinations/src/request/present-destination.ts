import type { Json } from '@secrets/domain';
import type { DestinationDescription, Granularity } from '../description.ts';
import { mask } from './parse-destination.ts';

/** What is needed to show a destination. */
export interface DestinationView {
  name: string;
  settings: Readonly<Record<string, Json>>;
  /** The names of the secret fields that are set. */
  credentialNames: Iterable<string>;
  /** The installation's prefix, in lower case. */
  prefix: string;
}

/**
 * Returns a destination as in responses (docs/conventions.md#52-destinations), with secrets masked and with the default
 * template in place of an empty one.
 */
export function presentDestination(description: DestinationDescription, view: DestinationView) {
  const settings = { ...description.defaults, ...view.settings };
  return {
    type: description.type,
    name: view.name,
    connection_details: connectionDetails(description, settings, new Set(view.credentialNames)),
    options: options(description, settings, view.prefix),
  };
}

function connectionDetails(
  { connectionFields, secretFields }: DestinationDescription,
  settings: Record<string, Json>,
  credentials: ReadonlySet<string>,
): Record<string, Json> {
  const view = connectionFields
    .filter((field) => credentials.has(field) || !secretFields.includes(field))
    .map((field) => [field, credentials.has(field) ? mask : (settings[field] ?? null)]);
  return Object.fromEntries(view);
}

function options(
  description: DestinationDescription,
  settings: Record<string, Json>,
  prefix: string,
): Record<string, Json> {
  const { connectionFields, defaults, nameRule } = description;
  const granularity = settings.granularity as Granularity;
  const {
    granularity: _,
    secret_name_template: template,
    ...others
  } = Object.fromEntries(
    Object.keys(defaults)
      .filter((field) => !connectionFields.includes(field))
      .map((field) => [field, settings[field] ?? null]),
  );
  return {
    granularity_level: granularity,
    secret_name_template: template || nameRule.defaultTemplate(prefix, granularity),
    ...others,
  };
}
