import type { Operation } from './operation.ts';

/** The services behind the gateway that own paths. */
export const owningServices = ['login', 'secrets', 'sync-control'] as const;
export type OwningService = (typeof owningServices)[number];

/** What applies to a path before the request reaches a service. */
interface PathRule {
  /** A path relative to its namespace, without leading and trailing slashes. `+` matches one segment, `**` one or more. */
  path: string;
  /** The service that handles the path; `gateway` for its own paths. */
  owner?: OwningService | 'gateway';
  /** The operation that needs no token. */
  open?: Operation;
  /** A login: needs no token if `**` is the path of an auth mount in the namespace of the request. */
  isLogin?: true;
  /** The operation that any valid token may perform, without consuming a use; the service decides what it returns. */
  anyToken?: Operation;
  /** What a token does with itself: takes place in its own namespace, whichever the request names. */
  isOwn?: true;
  /** Needs the capability `sudo` as well as that of the operation, because it affects more than its own object. */
  needsSudo?: true | readonly Operation[];
  /** Exists only in the root and the administrative namespace (docs/conventions.md#28-namespaces). */
  isAdministrative?: true;
}

/** For each property, the first rule that matches a path and has that property applies. */
const rules: readonly PathRule[] = [
  { path: 'sys/health', owner: 'gateway', open: 'read' },
  { path: 'sys/seal-status', owner: 'gateway', open: 'read' },
  { path: 'sys/leader', owner: 'gateway', open: 'read' },
  { path: 'sys/init', owner: 'gateway', open: 'read' },
  { path: 'sys/internal/specs/openapi', owner: 'gateway', open: 'read' },
  { path: 'sys/audit', owner: 'gateway', needsSudo: true, isAdministrative: true },
  { path: 'sys/audit-hash/+', owner: 'gateway', needsSudo: true, isAdministrative: true },
  { path: 'sys/rotate', owner: 'gateway', needsSudo: true, isAdministrative: true },
  { path: 'sys/key-status', owner: 'gateway', needsSudo: true, isAdministrative: true },
  { path: 'sys/wrapping/lookup', open: 'create-or-update' },
  { path: 'identity/oidc/plugins/.well-known/+', open: 'read' },
  { path: 'auth/**/login', isLogin: true },

  { path: 'sys/internal/ui/mounts', anyToken: 'read' },
  { path: 'sys/internal/ui/mounts/**', anyToken: 'read' },
  { path: 'sys/internal/ui/resultant-acl', anyToken: 'read' },
  { path: 'auth/token/lookup-self', isOwn: true },
  { path: 'auth/token/renew-self', isOwn: true },
  { path: 'auth/token/revoke-self', isOwn: true },

  { path: 'auth/token/create-orphan', needsSudo: true },
  { path: 'auth/token/revoke-orphan', needsSudo: true },
  { path: 'auth/token/revoke-accessor', needsSudo: true },
  { path: 'auth/token/accessors', needsSudo: true },
  { path: 'auth/**/rotate-root', needsSudo: true },
  { path: 'auth/**/diagnose', needsSudo: true },
  { path: 'sys/auth/**', needsSudo: ['create-or-update', 'delete'] },
  { path: 'sys/remount', needsSudo: true },
  { path: 'sys/rotate/**', needsSudo: true },
  { path: 'identity/oidc/rotate', needsSudo: true },
  { path: 'identity/oidc/**/rotate', needsSudo: true },

  { path: 'identity/oidc/config', isAdministrative: true },
  { path: 'identity/oidc/rotate', isAdministrative: true },
  { path: 'sys/quotas/**', isAdministrative: true },
  { path: 'sys/sync/config', isAdministrative: true },
  { path: 'sys/sync/parked', isAdministrative: true },
  { path: 'sys/sync/parked/**', isAdministrative: true },

  ...owned('sync-control', 'sys/sync'),
  ...owned('login', 'sys/auth', 'sys/policies', 'sys/policy', 'sys/namespaces', 'sys/quotas'),
  ...owned('login', 'sys/capabilities', 'sys/capabilities-self', 'sys/capabilities-accessor'),
  ...owned('login', 'auth', 'identity', 'sys/wrapping'),
  { path: 'sys/mounts/auth/**/tune', owner: 'login' },
  ...owned('login', 'sys/internal/ui/resultant-acl'),
  ...owned('secrets', 'sys/mounts', 'sys/internal/ui/mounts', 'sys/remount'),
];

/** The folders of a service, and everything below them. */
function owned(owner: OwningService, ...folders: string[]): PathRule[] {
  return folders.flatMap((path) => [
    { path, owner },
    { path: `${path}/**`, owner },
  ]);
}

const expressionOf = (path: string): RegExp => {
  const source = path
    .replace(/[.\\]/g, '\\$&')
    .replaceAll('**', '(.+)')
    .replaceAll(/(^|\/)\+(?=\/|$)/g, '$1[^/]+');
  return new RegExp(`^${source}$`);
};

const compiled = rules.map((rule) => ({ ...rule, expression: expressionOf(rule.path) }));
const [openRules, loginRules, anyTokenRules, ownRules, sudoRules, administrativeRules, ownerRules] = [
  compiled.filter(({ open }) => open !== undefined),
  compiled.filter(({ isLogin }) => isLogin),
  compiled.filter(({ anyToken }) => anyToken !== undefined),
  compiled.filter(({ isOwn }) => isOwn),
  compiled.filter(({ needsSudo }) => needsSudo),
  compiled.filter(({ isAdministrative }) => isAdministrative),
  compiled.filter(({ owner }) => owner !== undefined),
];

/** Only paths below these have rules: what other paths are below is a mount. */
const ruledFolders: ReadonlySet<string> = new Set(rules.map(({ path }) => firstSegment(path)));
const isRuled = (path: string): boolean => ruledFolders.has(firstSegment(path));

function firstSegment(path: string): string {
  const end = path.indexOf('/');
  return end < 0 ? path : path.slice(0, end);
}

const tokenPaths: ReadonlySet<string> = new Set([
  'auth/token/lookup-self',
  'auth/token/renew-self',
  'sys/wrapping/lookup',
  'sys/wrapping/rewrap',
  'sys/wrapping/unwrap',
]);

/** Whether the service of a path receives the token of the request: because it returns that token, or exchanges it. */
export const receivesToken = (path: string): boolean => tokenPaths.has(path);

const wrappingPaths: ReadonlySet<string> = new Set(
  [...tokenPaths].filter((path) => path.startsWith('sys/wrapping/')),
);

/** Whether a wrapping token is sufficient for a path. The service checks it, because it alone can read what was wrapped. */
export const takesWrappingToken = (path: string): boolean => wrappingPaths.has(path);

/** What a request without a token may reach. */
export type PublicPath =
  /** Open in every namespace. */
  | { kind: 'open' }
  /** Open if an auth mount of that path exists in the request's namespace. */
  | { kind: 'login'; mount: string };

/**
 * Whether a path needs no token. A login path names its mount, and is a login only if that mount exists: mount paths may contain
 * slashes, so `auth/cloudB/role/login` would otherwise let anybody write the role `login`.
 */
export function publicPath(operation: Operation, path: string): PublicPath | undefined {
  if (!isRuled(path)) return undefined;
  if (openRules.some(({ open, expression }) => open === operation && expression.test(path)))
    return { kind: 'open' };
  if (operation !== 'create-or-update') return undefined;
  for (const { expression } of loginRules) {
    const mount = expression.exec(path)?.[1];
    if (mount !== undefined) return { kind: 'login', mount };
  }
  return undefined;
}

/** Whether a valid token suffices for an operation, whatever its policies say. */
export const needsOnlyToken = (operation: Operation, path: string): boolean =>
  isRuled(path) &&
  anyTokenRules.some(({ anyToken, expression }) => anyToken === operation && expression.test(path));

/** Whether a request takes place in the namespace of its token, whichever it names. */
export const isOwnPath = (path: string): boolean =>
  isRuled(path) && ownRules.some(({ expression }) => expression.test(path));

/** Whether an operation on a path needs `sudo`. */
export const needsSudo = (operation: Operation, path: string): boolean =>
  isRuled(path) &&
  sudoRules.some(
    ({ needsSudo: of, expression }) =>
      (of === true || of?.includes(operation) === true) && expression.test(path),
  );

/** Whether a path exists only in the root and the administrative namespace. */
export const isAdministrativePath = (path: string): boolean =>
  isRuled(path) && administrativeRules.some(({ expression }) => expression.test(path));

/** The service that handles a path: by default `secrets`, whose mounts may have any path; undefined for an unknown path below `sys/`. */
export function ownerOf(path: string): OwningService | undefined {
  if (!isRuled(path)) return 'secrets';
  const owner = ownerRules.find(({ expression }) => expression.test(path))?.owner;
  if (owner !== undefined) return owner === 'gateway' ? undefined : owner;
  return path === 'sys' || path.startsWith('sys/') ? undefined : 'secrets';
}
