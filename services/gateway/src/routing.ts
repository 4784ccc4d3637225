/** The services that the gateway speaks to. */
export const upstreamNames = ['login', 'secrets', 'sync-control'] as const;
export type UpstreamName = (typeof upstreamNames)[number];

const routes: readonly (readonly [folder: string, upstream: UpstreamName | undefined])[] = [
  ['sys/sync', 'sync-control'],
  ['sys/auth', 'login'],
  ['sys/policies', 'login'],
  ['sys/policy', 'login'],
  ['sys/namespaces', 'login'],
  ['sys/capabilities', 'login'],
  ['sys/capabilities-self', 'login'],
  ['sys/capabilities-accessor', 'login'],
  ['sys/mounts', 'secrets'],
  ['sys/internal/ui/mounts', 'secrets'],
  ['sys', undefined],
  ['auth', 'login'],
  ['identity', 'login'],
];

/** Which service answers a path (decoded, without slashes at the ends): the first folder above that holds it, else the mounts of `secrets`. */
export function upstreamFor(path: string): UpstreamName | undefined {
  for (const [folder, upstream] of routes) {
    if (path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/'))
      return upstream;
  }
  return 'secrets';
}
