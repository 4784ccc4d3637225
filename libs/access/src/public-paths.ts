import type { Operation } from './operation.ts';

/** What a request without a token may reach. */
export type PublicPath =
  /** Open in every namespace. */
  | { kind: 'open' }
  /** Open if an auth mount of that path stands in the request's namespace. */
  | { kind: 'login'; mount: string };

const open: readonly { operation: Operation; path: RegExp }[] = [
  { operation: 'read', path: /^sys\/health$/ },
  { operation: 'read', path: /^sys\/internal\/specs\/openapi$/ },
  { operation: 'read', path: /^identity\/oidc\/plugins\/\.well-known\/[^/]+$/ },
];
const login = /^auth\/(.+)\/login$/;

/**
 * Tells whether a path needs no token. A login path names its mount, and only a mount that exists makes it one: as
 * mounts may hold slashes, `auth/cloudB/role/login` would otherwise let anybody write the role called `login`. Where no
 * such mount stands, a token is needed as on any path.
 */
export function publicPath(operation: Operation, path: string): PublicPath | undefined {
  if (open.some((entry) => entry.operation === operation && entry.path.test(path))) return { kind: 'open' };
  const mount = operation === 'create-or-update' ? login.exec(path)?.[1] : undefined;
  return mount === undefined ? undefined : { kind: 'login', mount };
}
