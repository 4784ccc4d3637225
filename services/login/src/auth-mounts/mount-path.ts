import { invalid } from '@secrets/domain';

const segment = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;
const maxLength = 256;

/**
 * Throws `invalid` if an auth mount cannot have a path.
 * @param path without slashes at its ends
 * @param callNames segments of the paths of a mount's own endpoints, such as `login`. A mount whose path contained one
 *   would be indistinguishable from such an endpoint: a mount `x/role` would turn `auth/x/role/login`, the role called
 *   `login`, into a login.
 */
export function requireMountPath(path: string, callNames: ReadonlySet<string>): void {
  const segments = path.split('/');
  if (path.length > maxLength || !segments.every((name) => segment.test(name)))
    throw invalid(
      'path: segments of an auth mount consist of letters, digits, _, - and ., and begin with none of - and .',
    );
  if (segments[0] === 'token') throw invalid('path: token is built in');
  const reserved = segments.find((name) => callNames.has(name));
  if (reserved !== undefined) throw invalid(`path: ${reserved} must not be a segment of an auth mount`);
}
