import { builtInTags, ownerTag } from '@secrets/destinations';
import { Fault } from '@secrets/domain';

/** Which destination external secrets belong to, as their built-in tags say. */
export interface Owner {
  /** The installation's prefix. */
  prefix: string;
  destinationId: string;
}

/** Whether the tags of an external secret say that it belongs to the destination. */
export const hasOwnerTag = (
  tags: Readonly<Record<string, string>>,
  { prefix, destinationId }: Owner,
): boolean => Object.hasOwn(tags, ownerTag(prefix)) && tags[ownerTag(prefix)] === destinationId;

/** All tags of a destination's external secrets: its custom tags and the built-in ones, which take precedence. */
export const tagsOf = (
  customTags: Readonly<Record<string, string>>,
  { prefix, destinationId }: Owner,
): Record<string, string> => ({ ...customTags, ...builtInTags(prefix, destinationId) });

/** The fault of a put whose external name is taken by a secret that does not belong to the destination. */
export const foreignSecret = (name: string): Fault =>
  new Fault(
    'conflict',
    `${JSON.stringify(name)} exists and does not belong to this destination; set "overwrite" to take it over`,
  );

/**
 * Returns the tags to set and the keys to remove so that an external secret has the `wanted` tags. Only keys in `ours`,
 * which the last put set, are removed; other tags belong to somebody else.
 */
export function tagChanges(tags: {
  wanted: Readonly<Record<string, string>>;
  present: Readonly<Record<string, string>>;
  ours: Readonly<Record<string, string>>;
}): { missing: Record<string, string>; surplus: string[] } {
  const { wanted, present, ours } = tags;
  const missing = Object.entries(wanted).filter(([key, value]) => present[key] !== value);
  const surplus = Object.keys(ours).filter(
    (key) => !Object.hasOwn(wanted, key) && Object.hasOwn(present, key),
  );
  return { missing: Object.fromEntries(missing), surplus };
}
