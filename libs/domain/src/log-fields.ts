interface Named {
  destination: { id: string; type: string; name: string; namespacePath: string };
  /** The secret of an association. */
  source?: { mount: string; secretName: string };
  entry?: { id: string; externalName: string };
}

/**
 * Fields of a log line about a destination, a secret that is associated with it, or an entry of that: the IDs, and the names that
 * an operator knows them by. Names are not secret; values must not be passed.
 */
export const syncLogFields = ({ destination, source, entry }: Named) => ({
  ...(entry !== undefined && { entryId: entry.id }),
  destinationId: destination.id,
  destinationType: destination.type,
  destination: destination.name,
  namespace: destination.namespacePath,
  ...(source !== undefined && { mount: source.mount, secretName: source.secretName }),
  ...(entry !== undefined && { externalName: entry.externalName }),
});
