const name = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** First segments of the API's own paths, and the name of the root namespace: they would make paths ambiguous. */
const reserved = new Set(['root', 'sys', 'auth', 'audit', 'identity', 'cubbyhole', 'v1']);

/** Whether a segment has the form of a namespace's name. It may be reserved. */
export const isNamespaceName = (segment: string): boolean => name.test(segment);

/** Whether no namespace can have this name. */
export const isReservedName = (segment: string): boolean => reserved.has(segment.toLowerCase());

/** The path of a namespace below another one. The path of the root namespace is empty. */
export const namespaceAt = (parent: string, below: string): string =>
  parent === '' || below === '' ? parent + below : `${parent}/${below}`;
