import { Problem } from '@secrets/domain';
import type { DestinationDescription } from './description.ts';
import { cloudASm } from './types/clouda-sm.ts';

/** Every destination type. A further one is its file and its line here. */
export const destinationTypes: Readonly<Record<string, DestinationDescription>> = {
  [cloudASm.type]: cloudASm,
};

/** The description of a type. Throws `Problem` `invalid` that lists the types for one that does not exist. */
export function findDescription(type: string): DestinationDescription {
  const description = Object.hasOwn(destinationTypes, type) ? destinationTypes[type] : undefined;
  if (description) return description;
  throw new Problem('invalid', `type: must be one of ${Object.keys(destinationTypes).join(', ')}`);
}
