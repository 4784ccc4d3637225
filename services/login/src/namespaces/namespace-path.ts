import { invalid, trimSlashes } from '@secrets/domain';

const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** First segments of the API's own paths, and the name of the root namespace: they would make paths ambiguous. */
const reserved = new Set(['root', 'sys', 'auth', 'audit', 'identity', 'cubbyhole', 'v1']);
const maxLength = 512;

/** Whether a namespace, given by its path, is another one or lies below it. */
export const isWithin = (path: string, ancestor: string): boolean =>
  ancestor === '' || path === ancestor || path.startsWith(`${ancestor}/`);

/**
 * The full path of a namespace that a request names relative to its own namespace. Throws `invalid` if a segment is not
 * a valid name or the path is too long.
 */
export function namespaceBelow(parent: string, relative: string): string {
  const segments = trimSlashes(relative).split('/');
  for (const name of segments) {
    if (!segment.test(name))
      throw invalid('path: names consist of letters, digits, _, - and ., and begin with neither - nor .');
    if (reserved.has(name.toLowerCase())) throw invalid(`path: ${name} is a reserved name`);
  }
  const path = [...(parent === '' ? [] : [parent]), ...segments].join('/');
  if (path.length > maxLength) throw invalid(`path: must have at most ${maxLength} characters`);
  return path;
}

/** The path of the parent of a namespace other than the root one. */
export const parentPath = (path: string): string =>
  path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
