/** The key of the tag that says which destination an external secret belongs to. */
export const ownerTag = (prefix: string): string => `${prefix}-destination`;

/** The tags of every external secret of a destination: who manages it, and which destination it belongs to. */
export const builtInTags = (prefix: string, destinationId: string): Record<string, string> => ({
  'managed-by': `${prefix}-sync`,
  [ownerTag(prefix)]: destinationId,
});

/** The number of built-in tags, which count towards the destination's limit. */
export const builtInTagCount = 2;

/** Whether a tag's key is reserved for a built-in tag, in any case. */
export const isBuiltInTag = (key: string, prefix: string): boolean =>
  Object.keys(builtInTags(prefix, '')).includes(key.toLowerCase());
