import type { Caller } from '@secrets/caller';
import { pathNames } from '@secrets/domain';
import { foldedFrom, nameIndex } from './folded-names.ts';
import { pathFromNamespace } from './request-path.ts';

/** A path of a request as the policies of a token see it: relative to the namespace of the token. */
export interface SeenPath {
  readonly path: string;
  /** The path with the other name of the same object, if it has one. */
  readonly alternative?: string | undefined;
  /** Index of the segment from which on the path is in lower case, because the object is found by a name in any letter case. */
  readonly foldedFrom?: number | undefined;
}

/** Undefined if the namespace of the request is neither that of the token nor below it. */
export function seenPath(
  given: string,
  { namespace, tokenNamespace }: Pick<Caller, 'namespace' | 'tokenNamespace'>,
): SeenPath | undefined {
  const seen = (name: string) => pathFromNamespace(tokenNamespace.path, namespace.path, name);
  const { path: own, alternative } = pathNames(given);
  const path = seen(own);
  if (path === undefined) return undefined;
  if (alternative !== undefined) return { path, alternative: seen(alternative) };
  const index = nameIndex(own);
  if (index === undefined) return { path };
  const at = index + path.split('/').length - own.split('/').length;
  return { path: foldedFrom(path, at), foldedFrom: at };
}
