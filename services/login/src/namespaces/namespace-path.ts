import { isNamespaceName, isReservedName, namespaceAt } from '@secrets/access';
import { invalid, trimSlashes } from '@secrets/domain';

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
    if (!isNamespaceName(name))
      throw invalid('path: names consist of letters, digits, _, - and ., and begin with neither - nor .');
    if (isReservedName(name)) throw invalid(`path: ${name} is a reserved name`);
  }
  const path = namespaceAt(parent, segments.join('/'));
  if (path.length > maxLength) throw invalid(`path: must have at most ${maxLength} characters`);
  return path;
}

/** The path of the parent of a namespace other than the root one. */
export const parentPath = (path: string): string =>
  path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
