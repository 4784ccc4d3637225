import { createRequire } from 'node:module';
import type { Operation } from './operation.ts';

/** The services behind the gateway that own paths. */
export const owningServices = ['login', 'secrets', 'sync-control'] as const;
export type OwningService = (typeof owningServices)[number];

/**
 * The access rules of a path, which the gateway applies before a service gets the request. The endpoints declare them
 * (`Access` of `@secrets/http`).
 */
export interface DeclaredPath {
  /** A path relative to its namespace, without leading and trailing slashes. `+` matches one segment, `**` one or more. */
  path: string;
  /** The service that handles the path; `gateway` for its own paths. */
  owner: OwningService | 'gateway';
  /** The operations that need no token. */
  open?: readonly Operation[];
  /** The operations that need no token if `**` is the path of an auth mount in the namespace of the request: logins. */
  isLogin?: readonly Operation[];
  /** The operations that any valid token may perform. */
  anyToken?: readonly Operation[];
  /** The operations that need no token, but are decided by it if there is one. */
  tokenOptional?: readonly Operation[];
  isOwn?: true;
  /** `true` for every operation, also those that the path does not support. */
  needsSudo?: true | readonly Operation[];
  isAdministrative?: true;
  receivesToken?: true;
  takesWrappingToken?: true;
  /** Other names that bodies may use for fields, by their own name. */
  otherNames?: Readonly<Record<string, string>>;
}

/** Every path of the API outside mounts. tests/declarations/path-rules.test.ts derives it from the endpoints. */
const rules = createRequire(import.meta.url)('./path-rules.json') as readonly DeclaredPath[];

const expressionOf = (path: string): RegExp => {
  const source = path
    .replace(/[.\\]/g, '\\$&')
    .replaceAll('**', '(.+)')
    .replaceAll(/(^|\/)\+(?=\/|$)/g, '$1[^/]+');
  return new RegExp(`^${source}$`);
};

const compiled = rules.map((rule) => ({ ...rule, expression: expressionOf(rule.path) }));
const [openRules, optionalRules, loginRules, anyTokenRules, ownRules, sudoRules, administrativeRules] = [
  compiled.filter(({ open }) => open !== undefined),
  compiled.filter(({ tokenOptional }) => tokenOptional !== undefined),
  compiled.filter(({ isLogin }) => isLogin !== undefined),
  compiled.filter(({ anyToken }) => anyToken !== undefined),
  compiled.filter(({ isOwn }) => isOwn),
  compiled.filter(({ needsSudo }) => needsSudo),
  compiled.filter(({ isAdministrative }) => isAdministrative),
];

/** First segments of the paths that have rules. Every other path is below a mount. */
const foldersOf = (declared: readonly DeclaredPath[]): ReadonlySet<string> =>
  new Set(declared.map(({ path }) => firstSegment(path)));
const ruledFolders = foldersOf(rules);
const isRuled = (path: string): boolean => ruledFolders.has(firstSegment(path));

function firstSegment(path: string): string {
  const end = path.indexOf('/');
  return end < 0 ? path : path.slice(0, end);
}

const pathsWith = (property: 'receivesToken' | 'takesWrappingToken'): ReadonlySet<string> =>
  new Set(rules.filter((rule) => rule[property]).map(({ path }) => path));
const wrappingPaths = pathsWith('takesWrappingToken');
const tokenPaths: ReadonlySet<string> = new Set([...pathsWith('receivesToken'), ...wrappingPaths]);

/** Whether the service of a path receives the token of the request: because it returns that token, or exchanges it. */
export const receivesToken = (path: string): boolean => tokenPaths.has(path);

/** Whether a wrapping token is sufficient for a path. The service checks it, because it alone can read what was wrapped. */
export const takesWrappingToken = (path: string): boolean => wrappingPaths.has(path);

/** A path that a request without a token may reach. */
export type PublicPath =
  /** Open in every namespace. */
  | { kind: 'open' }
  /** Open in the request's namespace, unless a token comes along. */
  | { kind: 'tokenOptional' }
  /** Open if an auth mount of that path exists in the request's namespace. */
  | { kind: 'login'; mount: string };

/**
 * Whether a path needs no token. A login path names its mount, and is a login only if that mount exists: mount paths may contain
 * slashes, so `auth/cloudB/role/login` would otherwise let anybody write the role `login`.
 */
export function publicPath(operation: Operation, path: string): PublicPath | undefined {
  if (!isRuled(path)) return undefined;
  if (openRules.some(({ open, expression }) => open?.includes(operation) && expression.test(path)))
    return { kind: 'open' };
  if (optionalRules.some((rule) => rule.tokenOptional?.includes(operation) && rule.expression.test(path)))
    return { kind: 'tokenOptional' };
  for (const { isLogin, expression } of loginRules) {
    const mount = isLogin?.includes(operation) ? expression.exec(path)?.[1] : undefined;
    if (mount !== undefined) return { kind: 'login', mount };
  }
  return undefined;
}

/** Whether a valid token suffices for an operation, whatever its policies say. */
export const needsOnlyToken = (operation: Operation, path: string): boolean =>
  isRuled(path) &&
  anyTokenRules.some(({ anyToken, expression }) => anyToken?.includes(operation) && expression.test(path));

/** Whether a request takes place in the namespace of its token, even if it names another one. */
export const isOwnPath = (path: string): boolean =>
  isRuled(path) && ownRules.some(({ expression }) => expression.test(path));

/** Whether an operation on a path needs `sudo`. */
export const needsSudo = (operation: Operation, path: string): boolean =>
  isRuled(path) &&
  sudoRules.some(
    ({ needsSudo: of, expression }) =>
      (of === true || of?.includes(operation) === true) && expression.test(path),
  );

/** A field's own name, and another one by which requests may send it. */
type FieldNames = readonly [own: string, other: string];

const renaming = compiled.map(({ expression, otherNames = {} }) => ({
  expression,
  names: Object.entries(otherNames) satisfies FieldNames[],
}));

/** The names of fields that have two, in any request. */
export const otherFieldNames: readonly FieldNames[] = renaming.flatMap(({ names }) => names);

/** The names of fields that have two, in the requests of a path. */
export const fieldNamesOf = (path: string): readonly FieldNames[] =>
  isRuled(path)
    ? renaming.filter(({ expression }) => expression.test(path)).flatMap(({ names }) => names)
    : [];

/** Whether a path exists only in the root and the administrative namespace. */
export const isAdministrativePath = (path: string): boolean =>
  isRuled(path) && administrativeRules.some(({ expression }) => expression.test(path));

type Owner = DeclaredPath['owner'];

/** Returns what finds the owner of a path by these declarations. */
export function ownersBy(declared: readonly DeclaredPath[]): (path: string) => Owner | undefined {
  const folders = foldersOf(declared);
  // By path or, for a path with parameters, by its prefix up to the first one, including the slash.
  const owners = new Map(declared.map(({ path, owner }) => [path.replace(/[+*].*$/, ''), owner]));
  return (path) => {
    if (!folders.has(firstSegment(path))) return 'secrets';
    const owner = owners.get(path);
    if (owner !== undefined) return owner;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const below = owners.get(path.slice(0, end + 1));
      if (below !== undefined) return below;
    }
    return undefined;
  };
}

/**
 * The service that handles a path: by default `secrets`, whose mounts may have any path; undefined for an unknown path
 * below `sys/`, `auth/` and `identity/`.
 */
export const ownerOf = ownersBy(rules);
