import { type Caller, type InternalKeys, isAdministrative, type Namespace } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { type AccessChanges, accessChanges } from './changes/access-changes.ts';
import { concern } from './changes/concerns.ts';
import { namespaceAt } from './paths/namespace-names.ts';
import {
  type LoginBelow,
  locate,
  loginBelow,
  type NamespaceSlot,
  type Place,
  slotOf,
  tagsOfSlot,
} from './paths/namespace-prefix.ts';
import { type Operation, suffices } from './paths/operation.ts';
import {
  isAdministrativePath,
  isOwnPath,
  needsOnlyToken,
  type PublicPath,
  publicPath,
  takesWrappingToken,
} from './paths/path-rules.ts';
import { namespacePath } from './paths/request-path.ts';
import type { Conditions } from './policies/conditions.ts';
import { type PolicySets, policySets } from './policies/policy-sets.ts';
import { type BuiltInLimits, noLimits, type RateLimits, rateLimits } from './rate-limits/rate-limits.ts';
import { consumeUse, type LoginMount, readLoginMount, readNamespace } from './read-access.ts';
import { anonymousCaller, identify, rootNamespace } from './request-caller.ts';
import { refuse, requireGrants } from './require-grants.ts';
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
  /** From `decodePath`. May begin with the path of a namespace. */
  path: string;
  remoteAddress: string;
  requestId: string;
}

/** The decision, with as much of the caller as is known: the audit log needs it in either case. */
export type Decision = (Allowed | Refused) & {
  caller: Caller;
  /** The path of the request, relative to the namespace of the caller. */
  path: string;
};

interface Allowed {
  allowed: true;
  /** What the policies require of the form of this request, which is still to be checked; undefined if nothing. */
  conditions?: Conditions | undefined;
}

interface Refused {
  allowed: false;
  problem: Problem;
}

export interface Authenticator {
  /**
   * Decides on one request. Never throws: invalid input is `invalid`, an unavailable database is `unavailable`. Cases
   * that must look the same from outside are all `permission denied`: no token, an invalid, expired or revoked one, a
   * wrong address, a namespace or mount that does not exist. Only callers whose policies allow the path in a namespace
   * learn that it does not exist (`not_found`).
   */
  authenticate(request: AccessRequest): Promise<Decision>;
  /**
   * Decides again on a request that was allowed and is still being served, with the path that was authorized. Does not consume a use, and no
   * rate limit applies. Never throws.
   */
  review(request: AccessRequest): Promise<Decision>;
}

export interface AuthenticatorOptions {
  /** Its role needs to read `login.tokens`, `policies`, `namespaces`, `auth_mounts`, `access_epoch`, `access_changes`, `entities`, `entity_aliases`, `groups`, `group_aliases`, `rate_limit_quotas`, update `tokens.uses_left`, and insert and update `rate_limit_usage`. */
  db: Db;
  keys: InternalKeys;
  /** Requests per second. By default, only quotas limit them. */
  limits?: BuiltInLimits | undefined;
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
const maxLoginMounts = 10_000;

class DbAuthenticator implements Authenticator {
  readonly #db: Db;
  readonly #changes: AccessChanges;
  readonly #tokens: TokenReader;
  readonly #policies: PolicySets;
  readonly #limits: RateLimits;
  readonly #namespaces: EpochCache<Namespace>;
  readonly #slots: EpochCache<NamespaceSlot>;
  readonly #loginMounts: EpochCache<LoginMount>;

  constructor({ db, keys, limits = noLimits, clock = Date.now }: AuthenticatorOptions) {
    this.#db = db;
    this.#changes = accessChanges(db);
    this.#tokens = tokenReader({ db, keys, changes: this.#changes, clock });
    this.#policies = policySets(db, this.#changes);
    this.#limits = rateLimits({ db, changes: this.#changes, limits, clock });
    this.#namespaces = epochCache({
      changes: this.#changes,
      maxEntries: maxNamespaces,
      tagsOf: ({ id }) => [concern.namespace(id)],
    });
    this.#slots = epochCache({ changes: this.#changes, maxEntries: maxNamespaces, tagsOf: tagsOfSlot });
    this.#loginMounts = epochCache({
      changes: this.#changes,
      maxEntries: maxLoginMounts,
      tagsOf: ({ id, namespace }) => [concern.mount(id), concern.namespace(namespace.id)],
    });
  }

  authenticate(asked: AccessRequest): Promise<Decision> {
    return decided(asked, (request, caller) => this.#authorize(request, caller));
  }

  review(asked: AccessRequest): Promise<Decision> {
    return decided(asked, (request, caller) => {
      caller.namespace = namespaceNamed(namespacePath(request.namespace));
      return this.#authorizeToken(request, caller, { isReview: true });
    });
  }

  async #authorize(request: AccessRequest, caller: Caller): Promise<Conditions | undefined> {
    const { path: asked, remoteAddress } = request;
    if (isUnwrapping(request)) {
      await this.#limits.ofLogins(remoteAddress);
      return undefined; // the same in every namespace, whether or not that exists
    }
    const open = publicPath(request.operation, asked);
    caller.namespace = namespaceNamed(namespacePath(request.namespace));
    const login = loginAt(open, request);
    const quota = await this.#limits.beforeAccess(limitedBy(request, caller, login));
    if (login !== undefined || (open !== undefined && takesWrappingToken(asked)))
      await this.#limits.ofLogins(remoteAddress);
    // Such a document is the same in every namespace, whether or not that exists: nobody finds out without a token.
    const isOpen = open?.kind === 'open';
    if (isOpen) caller.namespace = rootNamespace;
    const conditions = isOpen ? undefined : await this.#authorizeLogin(login, request, caller);
    const { path: namespace } = caller.namespace;
    const isMoved = login === undefined && request.path !== asked;
    const located = { namespace, path: request.path, remoteAddress };
    const applying = isMoved ? await this.#limits.afterLocating(quota, located) : quota;
    await this.#limits.afterAccess(applying, caller.tokenType === null ? undefined : caller.namespace);
    return conditions;
  }

  /** A login needs no token if its mount exists. Everything else does. */
  async #authorizeLogin(
    login: LoginPath | undefined,
    request: AccessRequest,
    caller: Caller,
  ): Promise<Conditions | undefined> {
    const found = login && (await this.#loginMount(caller.namespace.path, login));
    if (found === undefined) return this.#authorizeToken(request, caller);
    caller.accessEpoch = found.epoch;
    move({ request, caller }, found);
    return undefined;
  }

  async #loginMount(
    from: string,
    { namespace = '', mount, path }: LoginPath,
  ): Promise<(Place & { epoch: number }) | undefined> {
    const at = namespaceAt(from, namespace);
    const read = () => readLoginMount(this.#db, at, mount);
    const { epoch, row } = await this.#loginMounts.get(JSON.stringify([at, mount]), read);
    return row && { namespace: row.namespace, path, epoch };
  }

  async #authorizeToken(
    request: AccessRequest,
    caller: Caller,
    { isReview = false } = {},
  ): Promise<Conditions | undefined> {
    const { token, hash, epoch } = (await this.#tokens.find(request.token ?? '')) ?? refuse();
    identify(caller, token);
    if (token.boundTo?.includes(request.remoteAddress) === false) refuse();
    if (!isReview) await this.#limits.ofToken(token.accessor ?? hash.toString('base64'));
    const names = [...token.policies, ...token.identityPolicies];
    const holder = { namespaceId: token.namespace.id, entityId: token.entityId };
    const rules = await this.#policies.get(names, holder, epoch);
    await this.#locate({ request, caller, epoch }, token);
    const uses = needsOnlyToken(request.operation, request.path) ? 0 : 1;
    if (!isReview && token.hasLimitedUses && !(await consumeUse(this.#db, hash, uses))) refuse();
    const conditions = requireGrants(request, caller, token, rules);
    if (caller.namespace.id === '')
      caller.namespace =
        (await this.#namespaceAt(caller.namespace.path, epoch)) ?? namespaceNotFound(request, caller);
    if (isAdministrativePath(request.path) && !isAdministrative(caller.namespace))
      throw notAdministrative(request.path);
    return conditions;
  }

  /** Finds out where the request takes place, before anything is decided about it. */
  async #locate(
    { request, caller, epoch }: { request: AccessRequest; caller: Caller; epoch: number },
    token: AccessToken,
  ): Promise<void> {
    const slotAt = async (path: string) =>
      (await this.#slots.get(path, async () => slotOf(path, await readNamespace(this.#db, path)), epoch)).row;
    const place = await locate(slotAt, { namespace: caller.namespace, path: request.path });
    move({ request, caller }, place);
    if (isOwnPath(request.path) || caller.namespace.path === token.namespace.path)
      caller.namespace = token.namespace;
  }

  async #namespaceAt(path: string, seen?: number): Promise<Namespace | undefined> {
    return (await this.#namespaces.get(path, () => readNamespace(this.#db, path), seen)).row;
  }
}

async function decided(
  asked: AccessRequest,
  authorize: (request: AccessRequest, caller: Caller) => Promise<Conditions | undefined>,
): Promise<Decision> {
  const request = { ...asked };
  const caller = anonymousCaller(request);
  try {
    const conditions = await authorize(request, caller);
    return { allowed: true, caller, conditions, path: request.path };
  } catch (error) {
    caller.grants = [];
    return { allowed: false, problem: asProblem(error), caller, path: request.path };
  }
}

/** The address, and where the request takes place as far as that is known without reading anything. */
const limitedBy = ({ path, remoteAddress }: AccessRequest, caller: Caller, login: LoginPath | undefined) => ({
  remoteAddress,
  namespace: namespaceAt(caller.namespace.path, login?.namespace ?? ''),
  path: login?.path ?? path,
});

const loginAt = (open: PublicPath | undefined, { operation, path }: AccessRequest): LoginPath | undefined =>
  open?.kind === 'login' ? { mount: open.mount, path } : loginBelow(operation, path);

/** A login that is named by its own path, or by one that begins with its namespace. */
type LoginPath = Pick<LoginBelow, 'mount' | 'path'> & Partial<LoginBelow>;

function move({ request, caller }: { request: AccessRequest; caller: Caller }, to: Place): void {
  request.path = to.path;
  caller.namespace = to.namespace;
}

const namespaceNamed = (path: string): Namespace => (path === '' ? rootNamespace : { id: '', path });
const isUnwrapping = ({ path, token }: AccessRequest): boolean =>
  takesWrappingToken(path) && isWrappingToken(token ?? '');

/** Only a caller whose policies allow the operation learns this. */
function namespaceNotFound({ operation }: AccessRequest, { grants, namespace }: Caller): never {
  if (!suffices(grants, operation)) refuse();
  throw new Problem('not_found', `namespace ${namespace.path} does not exist`);
}

const notAdministrative = (path: string) =>
  new Problem('forbidden', `${path} is available only in the root and the administrative namespace`);

const asProblem = (error: unknown): Problem =>
  error instanceof Problem
    ? error
    : new Problem('unavailable', 'the token could not be checked because the database is unavailable', {
        cause: error,
      });
