import { invalid } from '@secrets/domain';
import { checkPath } from './secret-path.ts';

/** First segments that belong to other parts of the API. */
const reserved = ['sys', 'auth', 'identity', 'cubbyhole'];

/** Last segments that the mounts' own paths use: `sys/mounts/<path>/tune`. */
const reservedEnds = ['tune'];

export const maxMountBytes = 256;

/** Slashes at the ends do not count: `team/kv/` and `team/kv` are one mount. */
export const withoutEndSlashes = (path: string): string => path.replace(/^\/+|\/+$/g, '');

/** The path at which a mount may stand, without slashes at the ends; throws `invalid` otherwise. */
export function checkMountPath(given: string): string {
  const path = checkPath(withoutEndSlashes(given), 'path', maxMountBytes);
  const segments = path.split('/');
  if (reserved.includes(segments[0]!)) throw invalid(`path: ${segments[0]} is reserved`);
  if (reservedEnds.includes(segments.at(-1)!)) throw invalid(`path: must not end with ${segments.at(-1)}`);
  return path;
}

/** The paths at which the mount of a request's path may stand, shortest first: `a`, `a/b`, … */
export function mountCandidates(path: string): string[] {
  const candidates: string[] = [];
  for (let end = path.indexOf('/'); end !== -1 && end <= maxMountBytes; end = path.indexOf('/', end + 1)) {
    if (end > 0) candidates.push(path.slice(0, end));
  }
  return candidates;
}

/** Whether the path belongs to another part of the API, whatever is mounted. */
export const isReserved = (path: string): boolean => reserved.includes(path.split('/', 1)[0]!);
