import {
  type Caller,
  type Capability,
  type InternalKeys,
  isAdministrative,
  type Namespace,
} from '@secrets/caller';
import type { Db } from '@secrets/db';
import { Problem, pathNames, permissionDenied } from '@secrets/domain';
import { type Operation, suffices } from './paths/operation.ts';
import { isAdministrativePath, needsSudo, publicPath, takesWrappingToken } from './paths/path-rules.ts';
import { namespacePath, pathFromNamespace } from './paths/request-path.ts';
import { consumeUse, readLoginMount, readNamespace } from './read-access.ts';
import type { AccessToken } from './tokens/access-token.ts';
import { type EpochCache, epochCache } from './tokens/epoch-cache.ts';
import { isWrappingToken } from './tokens/token.ts';
import { type TokenReader, tokenReader } from './tokens/token-reader.ts';

/** The properties of a request on which its permission depends. */
export interface AccessRequest {
  token: string | undefined;
  /** The header `X-Service-Namespace`. */
  namespace: string | undefined;
  operation: Operation;
  /** From `decodePath`. */
  path: string;
  remoteAddress: string;
  requestId: string;
}

/** The decision, with as much of the caller as is known: the audit log needs it in either case. */
export type Decision =
  | { allowed: true; caller: Caller }
  | { allowed: false; problem: Problem; caller: Caller };

export interface Authenticator {
  /**
   * Decides on one request. Never throws: invalid input is `invalid`, an unavailable database is `unavailable`. Cases
   * that must look the same from outside are all `permission denied`: no token, an invalid, expired or revoked one, a
   * wrong address, a namespace or mount that does not exist. Only callers whose policies allow the path in a namespace
   * learn that it does not exist (`not_found`).
   */
  authenticate(request: AccessRequest): Promise<Decision>;
}

export interface AuthenticatorOptions {
  /** Its role needs to read `login.tokens`, `policies`, `namespaces`, `auth_mounts`, `access_epoch`, `entities`, `entity_aliases`, `groups`, `group_aliases`, and update `tokens.uses_left`. */
  db: Db;
  keys: InternalKeys;
  /** Returns milliseconds since 1970. Default: `Date.now`. */
  clock?: () => number;
}

/**
 * Creates the authenticator, which determines the caller of a request and whether the request is allowed. It caches tokens and
 * namespaces, yet a revocation applies to every request that arrives after it was committed, on every gateway
 * (docs/conventions.md#21-tokens).
 */
export const createAuthenticator = (options: AuthenticatorOptions): Authenticator =>
  new DbAuthenticator(options);

const maxNamespaces = 10_000;

class DbAuthenticator implements Authenticator {
  readonly #db: Db;
  readonly #tokens: TokenReader;
  readonly #namespaces: EpochCache<Namespace>;

  constructor({ db, keys, clock = Date.now }: AuthenticatorOptions) {
    this.#db = db;
    this.#tokens = tokenReader(db, keys, clock);
    this.#namespaces = epochCache({ epochNow: this.#tokens.epochNow, maxEntries: maxNamespaces });
  }

  async authenticate(request: AccessRequest): Promise<Decision> {
    const caller = anonymousCaller(request);
    try {
      await this.#authorize(request, caller);
      return { allowed: true, caller };
    } catch (error) {
      caller.grants = [];
      return { allowed: false, problem: asProblem(error), caller };
    }
  }

  async #authorize(request: AccessRequest, caller: Caller): Promise<void> {
    if (isUnwrapping(request)) return; // the same in every namespace, whether or not that exists
    caller.namespace = { id: '', path: namespacePath(request.namespace) };
    if (caller.namespace.path === '') caller.namespace = rootNamespace;
    const open = publicPath(request.operation, request.path);
    if (open === undefined) return this.#authorizeToken(request, caller);
    if (open.kind === 'open') return this.#authorizeOpenPath(caller);
    return this.#authorizeLogin(open.mount, request, caller);
  }

  async #authorizeToken(request: AccessRequest, caller: Caller): Promise<void> {
    const { token, hash } = (await this.#tokens.find(request.token ?? '')) ?? refuse();
    identify(caller, token);
    if (token.boundTo?.includes(request.remoteAddress) === false) refuse();
    if (token.hasLimitedUses && !(await consumeUse(this.#db, hash))) refuse();
    requireGrants(request, caller, token);
    if (caller.namespace.path === token.namespace.path) caller.namespace = token.namespace;
    else
      caller.namespace =
        (await this.#namespaceAt(caller.namespace.path)) ?? namespaceNotFound(caller.namespace.path);
    if (isAdministrativePath(request.path) && !isAdministrative(caller.namespace))
      throw notAdministrative(request.path);
  }

  async #authorizeLogin(mount: string, request: AccessRequest, caller: Caller): Promise<void> {
    const namespace = await readLoginMount(this.#db, caller.namespace.path, mount);
    if (namespace === undefined) return this.#authorizeToken(request, caller);
    caller.namespace = namespace;
  }

  async #authorizeOpenPath(caller: Caller): Promise<void> {
    const { path } = caller.namespace;
    if (path !== '') caller.namespace = (await this.#namespaceAt(path)) ?? refuse();
  }

  #namespaceAt(path: string): Promise<Namespace | undefined> {
    return this.#namespaces.get(path, () => readNamespace(this.#db, path));
  }
}

/** Refuses a request that the token's policies do not allow. Policies apply to an object by whichever of its names they or the request use. */
function requireGrants(request: AccessRequest, caller: Caller, token: AccessToken): void {
  const { path, alternative } = pathNames(request.path);
  const seen = (name: string) => pathFromNamespace(token.namespace.path, caller.namespace.path, name);
  const other = alternative === undefined ? undefined : seen(alternative);
  caller.grants = [...grantsOn(token, request.operation, seen(path) ?? refuse(), other)];
  if (!suffices(caller.grants, request.operation)) refuse();
  if (needsSudo(path) && !caller.grants.includes('sudo')) refuse();
}

const isUnwrapping = ({ path, token }: AccessRequest): boolean =>
  takesWrappingToken(path) && isWrappingToken(token ?? '');

const rootNamespace: Namespace = { id: 'root', path: '' };

const grantsOn = (
  { rules }: AccessToken,
  operation: Operation,
  ...names: [path: string, alternative: string | undefined]
): readonly Capability[] => (operation === 'list' ? rules.onFolder(...names) : rules.on(...names));

const anonymousCaller = ({ requestId, remoteAddress }: AccessRequest): Caller => ({
  requestId,
  accessor: null,
  tokenType: null,
  displayName: '',
  entityId: null,
  policies: [],
  identityPolicies: [],
  tokenExpiresAt: null,
  namespace: rootNamespace,
  tokenNamespace: rootNamespace,
  grants: [],
  remoteAddress,
});

function identify(caller: Caller, token: AccessToken): void {
  caller.accessor = token.accessor;
  caller.tokenType = token.tokenType;
  caller.displayName = token.displayName;
  caller.entityId = token.entityId;
  caller.policies = [...token.policies];
  caller.identityPolicies = [...token.identityPolicies];
  caller.tokenExpiresAt = token.expiresAt === undefined ? null : new Date(token.expiresAt).toISOString();
  caller.tokenNamespace = token.namespace;
}

function refuse(): never {
  throw permissionDenied();
}

function namespaceNotFound(namespace: string): never {
  throw new Problem('not_found', `namespace ${namespace} does not exist`);
}

const notAdministrative = (path: string) =>
  new Problem('forbidden', `${path} is available only in the root and the administrative namespace`);

const asProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem('unavailable', 'the token could not be checked because the database is unavailable', {
        cause: error,
      });
