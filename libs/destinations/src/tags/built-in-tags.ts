/** The key of the tag that says which destination an external secret belongs to. */
export const ownerTag = (prefix: string): string => `${prefix}-destination`;

/**
 * The value of the owner tag of an external secret that its destination is about to delete, if the provider keeps
 * deleted secrets: it then belongs to any destination that needs the name.
 */
export const releasedOwner = 'deleted';

const managerTag = 'managed-by';
const managerSuffix = '-sync';

/** The tags of every external secret of a destination: who manages it, and which destination it belongs to. */
export const builtInTags = (prefix: string, destinationId: string): Record<string, string> => ({
  [managerTag]: `${prefix}${managerSuffix}`,
  [ownerTag(prefix)]: destinationId,
});

/** The prefix of the installation that set built-in tags; undefined if there are none. */
export function prefixOfTags(tags: Readonly<Record<string, string>>): string | undefined {
  const manager = Object.hasOwn(tags, managerTag) ? tags[managerTag] : undefined;
  if (!manager?.endsWith(managerSuffix)) return undefined;
  const prefix = manager.slice(0, -managerSuffix.length);
  return Object.hasOwn(tags, ownerTag(prefix)) ? prefix : undefined;
}

/** The number of built-in tags, which count towards the destination's limit. */
export const builtInTagCount = 2;

/** Whether a tag's key is reserved for a built-in tag, in any case. */
export const isBuiltInTag = (key: string, prefix: string): boolean =>
  Object.keys(builtInTags(prefix, '')).includes(key.toLowerCase());
