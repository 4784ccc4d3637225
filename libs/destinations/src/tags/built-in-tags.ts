/** The tag by which an external secret is known to be a destination's own. */
export const ownerTag = (prefix: string): string => `${prefix}-destination`;

/** The tags that every external secret of a destination carries: who manages it, and which destination it belongs to. */
export const builtInTags = (prefix: string, destinationId: string): Record<string, string> => ({
  'managed-by': `${prefix}-sync`,
  [ownerTag(prefix)]: destinationId,
});

/** How many of a destination's tags are ours. */
export const builtInTagCount = 2;

/** Whether a tag's name is kept for us, whatever the prefix and the case. */
export const isBuiltInTag = (key: string, prefix: string): boolean =>
  Object.keys(builtInTags(prefix, '')).includes(key.toLowerCase());
