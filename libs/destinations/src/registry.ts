import { notFound } from '@secrets/domain';
import type { DestinationDescription } from './description.ts';
import { cloudASm } from './types/clouda-sm.ts';
import { cloudBKv } from './types/cloudb-kv.ts';
import { cloudCSm } from './types/cloudc-sm.ts';
import { codehost } from './types/codehost.ts';
import { webhostProject } from './types/webhost-project.ts';

/** Every destination type, by its identifier. */
export const destinationTypes: Readonly<Record<string, DestinationDescription>> = {
  [cloudASm.type]: cloudASm,
  [cloudBKv.type]: cloudBKv,
  [cloudCSm.type]: cloudCSm,
  [codehost.type]: codehost,
  [webhostProject.type]: webhostProject,
};

/** Returns the description of a type. Throws `Problem` `not_found`, which lists the types, if it does not exist. */
export function findDescription(type: string): DestinationDescription {
  const description = Object.hasOwn(destinationTypes, type) ? destinationTypes[type] : undefined;
  if (description) return description;
  throw notFound(`type: must be one of ${Object.keys(destinationTypes).join(', ')}`);
}
