import { invalid } from '@secrets/domain';

const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
/**
 * Segments that stand behind a mount in the paths of its own calls: a mount that held one could not be told from such
 * a call, and a mount `x/role` would make `auth/x/role/login` a login where it is the role called `login`.
 */
const ownCalls = new Set(['config', 'login', 'role', 'rotate-root', 'check']);

/** The path of an auth mount without slashes at its ends. Throws a problem (`invalid`) for one that cannot be. */
export function mountPath(given: string): string {
  const path = given.replace(/\/$/, '');
  const segments = path.split('/');
  if (path.length > 256 || !segments.every((name) => segment.test(name)))
    throw invalid('path: an auth mount is named by letters, digits, _, - and ., in segments divided by /');
  if (segments[0] === 'token') throw invalid('path: token is built in');
  const taken = segments.find((name) => ownCalls.has(name));
  if (taken !== undefined) throw invalid(`path: ${taken} must not be a segment of an auth mount`);
  return path;
}
