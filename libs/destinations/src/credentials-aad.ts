import { canonicalJson, type Json } from '@secrets/domain';
import { fieldsThat } from './fields/field.ts';
import { destinationTypes } from './registry.ts';

interface StoredDestination {
  id: string;
  type: string;
  settings: Readonly<Record<string, unknown>>;
}

/**
 * The additional authenticated data of a destination's credentials. They do not open for another destination, nor, in the bound
 * form, for another type or another connection: whoever changes the URL in the database does not have them sent there. A
 * setting with its default is left out, so that a field that a type gets later changes nothing for the destinations without it.
 */
export const credentialsAad = ({ id, type, settings }: StoredDestination) => ({
  plain: `sync.destinations:${id}`,
  bound: `sync.destinations:${id}:${type}:${canonicalJson(connectionOf(type, settings))}`,
});

function connectionOf(type: string, settings: StoredDestination['settings']): Json {
  const description = destinationTypes[type];
  if (description === undefined) return {}; // known to a newer version only: opens nothing
  const { defaults } = description;
  const isSet = (name: string) =>
    settings[name] !== undefined && canonicalJson(settings[name]) !== canonicalJson(defaults[name]);
  const names = fieldsThat(description, ({ place }) => place === 'connection').filter(isSet);
  return Object.fromEntries(names.map((name) => [name, settings[name] as Json]));
}
