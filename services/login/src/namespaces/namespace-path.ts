import { invalid } from '@secrets/domain';

const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/** First segments of the API's own paths, and the name of the root namespace: they would make paths ambiguous. */
const reserved = new Set(['root', 'sys', 'auth', 'audit', 'identity', 'cubbyhole', 'v1']);
const maxPathLength = 512;

/** Whether a namespace (its path) is another one or lies below it. */
export const isWithin = (path: string, ancestor: string): boolean =>
  ancestor === '' || path === ancestor || path.startsWith(`${ancestor}/`);

/** The whole path of a namespace that is named relative to the caller's. Throws a problem (`invalid`) for a name that cannot be one. */
export function namespaceBelow(parent: string, relative: string): string {
  const segments = relative.replace(/\/$/, '').split('/');
  for (const name of segments) {
    if (!segment.test(name))
      throw invalid('path: a namespace is named by letters, digits, _, - and ., and begins with no - or .');
    if (reserved.has(name.toLowerCase())) throw invalid(`path: ${name} is a reserved name`);
  }
  const path = [...(parent === '' ? [] : [parent]), ...segments].join('/');
  if (path.length > maxPathLength) throw invalid(`path: at most ${maxPathLength} characters`);
  return path;
}

/** The path of the namespace above; undefined for the root one. */
export function parentPath(path: string): string | undefined {
  if (path === '') return undefined;
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}
