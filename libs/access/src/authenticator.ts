import {
  type Caller,
  type Capability,
  type InternalKeys,
  isAdministrative,
  type Namespace,
} from '@secrets/caller';
import type { Db } from '@secrets/db';
import { Problem, permissionDenied } from '@secrets/domain';
import { type Operation, suffices } from './paths/operation.ts';
import { isAdministrativePath, needsSudo, publicPath } from './paths/path-rules.ts';
import { namespacePath, pathFromNamespace } from './paths/request-path.ts';
import { consumeUse, readLoginMount, readNamespace } from './read-access.ts';
import type { AccessToken } from './tokens/access-token.ts';
import { type EpochCache, epochCache } from './tokens/epoch-cache.ts';
import { type TokenReader, tokenReader } from './tokens/token-reader.ts';

/** A request as far as its permission depends on it. */
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

/** The answer, with the caller as far as it is known: the audit wants one in either case. */
export type Decision =
  | { allowed: true; caller: Caller }
  | { allowed: false; problem: Problem; caller: Caller };

export interface Authenticator {
  /**
   * Decides about one request. Never throws: bad input is `invalid`, a database that does not answer `unavailable`,
   * and everything that a stranger should not tell apart (no token, a wrong, expired or revoked one, one from
   * elsewhere, a namespace or mount that is not there) the same `permission denied`. That a namespace does not exist
   * (`not_found`) is told only to those whose policies allow the path in it.
   */
  authenticate(request: AccessRequest): Promise<Decision>;
}

export interface AuthenticatorOptions {
  /** May read `login.tokens`, `policies`, `namespaces`, `auth_mounts`, `access_epoch` and update `tokens.uses_left`. */
  db: Db;
  keys: InternalKeys;
  /** Milliseconds since 1970. */
  clock?: () => number;
}

/**
 * Creates the authenticator: who is the caller, and what may it do. Tokens and namespaces are kept in memory, yet a revocation that was
 * committed before a request arrived applies to that request, whichever gateway it reaches (docs/conventions.md#21-tokens).
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
    else caller.namespace = (await this.#namespaceAt(caller.namespace.path)) ?? absent(caller.namespace.path);
    if (isAdministrativePath(request.path) && !isAdministrative(caller.namespace))
      throw outside(request.path);
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

/** Refuses a request that the policies of its token do not allow. */
function requireGrants(request: AccessRequest, caller: Caller, token: AccessToken): void {
  const path = pathFromNamespace(token.namespace.path, caller.namespace.path, request.path) ?? refuse();
  caller.grants = [...grantsOn(token, request.operation, path)];
  if (!suffices(caller.grants, request.operation)) refuse();
  if (needsSudo(request.path) && !caller.grants.includes('sudo')) refuse();
}

const rootNamespace: Namespace = { id: 'root', path: '' };

const grantsOn = (token: AccessToken, operation: Operation, path: string): readonly Capability[] =>
  operation === 'list' ? token.rules.onFolder(path) : token.rules.on(path);

const anonymousCaller = ({ requestId, remoteAddress }: AccessRequest): Caller => ({
  requestId,
  accessor: null,
  tokenType: null,
  displayName: '',
  entityId: null,
  policies: [],
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
  caller.tokenNamespace = token.namespace;
}

function refuse(): never {
  throw permissionDenied();
}

function absent(namespace: string): never {
  throw new Problem('not_found', `there is no namespace ${namespace}`);
}

const outside = (path: string) =>
  new Problem('forbidden', `${path} answers only in the root and the administrative namespace`);

const asProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem('unavailable', 'the token could not be checked because the database does not answer', {
        cause: error,
      });
