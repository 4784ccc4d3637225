import type { Db } from '@secrets/db';
import { Problem, permissionDenied } from '@secrets/domain';
import type { AccessToken } from './access-token.ts';
import type { Caller, Capability, Namespace } from './caller.ts';
import { epochCache } from './epoch-cache.ts';
import type { InternalKeys } from './internal-keys.ts';
import { type Operation, suffices } from './operation.ts';
import { publicPath } from './public-paths.ts';
import { consumeUse, readLoginMount, readNamespace } from './read-access.ts';
import { namespacePath, pathFromNamespace } from './request-path.ts';
import { needsSudo } from './sudo-paths.ts';
import { tokenReader } from './token-reader.ts';

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
 * Makes the one door: who asks, and may they. Tokens and namespaces are kept in memory, yet a revocation that was
 * committed before a request arrived applies to that request, whichever gateway it reaches (docs/conventions.md#21-tokens).
 */
export function createAuthenticator({ db, keys, clock = Date.now }: AuthenticatorOptions): Authenticator {
  const tokens = tokenReader(db, keys, clock);
  const namespaces = epochCache<Namespace>({ epochNow: tokens.epochNow, maxEntries: maxNamespaces });
  const namespaceAt = (path: string) => namespaces.get(path, () => readNamespace(db, path));

  const authorizeToken = async (request: AccessRequest, caller: Caller): Promise<void> => {
    const { token, hash } = (await tokens.find(request.token ?? '')) ?? refuse();
    identify(caller, token);
    if (token.boundTo?.includes(request.remoteAddress) === false) refuse();
    if (token.hasLimitedUses && !(await consumeUse(db, hash))) refuse();
    const requestedNamespace = caller.namespace.path;
    const path = pathFromNamespace(token.namespace.path, requestedNamespace, request.path) ?? refuse();
    caller.grants = [...grantsOn(token, request.operation, path)];
    if (!suffices(caller.grants, request.operation)) refuse();
    if (needsSudo(request.path) && !caller.grants.includes('sudo')) refuse();
    caller.namespace =
      requestedNamespace === token.namespace.path
        ? token.namespace
        : ((await namespaceAt(requestedNamespace)) ?? absent(requestedNamespace));
    if (administrative(request.path) && requestedNamespace !== '' && requestedNamespace !== 'admin')
      throw outside(request.path);
  };

  const authorizeLogin = async (mount: string, request: AccessRequest, caller: Caller): Promise<void> => {
    const namespace = await readLoginMount(db, caller.namespace.path, mount);
    if (namespace === undefined) return authorizeToken(request, caller);
    caller.namespace = namespace;
  };

  const authorizeOpenPath = async (caller: Caller): Promise<void> => {
    const { path } = caller.namespace;
    if (path !== '') caller.namespace = (await namespaceAt(path)) ?? refuse();
  };

  const decide = async (request: AccessRequest, caller: Caller): Promise<void> => {
    caller.namespace = { id: '', path: namespacePath(request.namespace) };
    if (caller.namespace.path === '') caller.namespace = rootNamespace;
    const open = publicPath(request.operation, request.path);
    if (open === undefined) return authorizeToken(request, caller);
    if (open.kind === 'open') return authorizeOpenPath(caller);
    return authorizeLogin(open.mount, request, caller);
  };

  return {
    authenticate: async (request) => {
      const caller = anonymousCaller(request);
      try {
        await decide(request, caller);
        return { allowed: true, caller };
      } catch (error) {
        caller.grants = [];
        return { allowed: false, problem: asProblem(error), caller };
      }
    },
  };
}

const maxNamespaces = 10_000;
const rootNamespace: Namespace = { id: 'root', path: '' };

/** `sys/sync/config` exists only in the root and the administrative namespace (docs/conventions.md#28-namespaces). */
const administrative = (path: string): boolean => path === 'sys/sync/config';

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
