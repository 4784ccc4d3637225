import { type Caller, type InternalKeys, isAdministrative, type Namespace } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { accessChanges } from './changes/access-changes.ts';
import { decide } from './decision/decide.ts';
import { anonymousSender, identifiedSender } from './decision/identify.ts';
import {
  type AuthRequirement,
  authRequirementAt,
  namedPlace,
  Places,
  rootNamespace,
} from './decision/places.ts';
import { Refusal, type RequestFacts, refuse } from './decision/refusal.ts';
import type { Place } from './paths/namespace-prefix.ts';
import { type Operation, suffices } from './paths/operation.ts';
import { isAdministrativePath, needsOnlyToken, takesWrappingToken } from './paths/path-rules.ts';
import type { CompiledPolicies } from './policies/matching/compile-policies.ts';
import { type Conditions, conditionsFor } from './policies/rules/conditions.ts';
import { type Grant, noGrant } from './policies/rules/grant.ts';
import { type PolicySets, policySets } from './policies/store/policy-sets.ts';
import type { Quota } from './rate-limits/quotas.ts';
import { type BuiltInLimits, noLimits, type RateLimits, rateLimits } from './rate-limits/rate-limits.ts';
import { consumeUse } from './read-access.ts';
import { type RowGuard, rowGuard } from './rows/row-guard.ts';
import { isWrappingToken } from './tokens/token.ts';
import { type FoundToken, type TokenReader, tokenReader } from './tokens/token-reader.ts';

/** The properties of a request on which its permission depends. */
export interface AccessRequest {
  readonly token: string | undefined;
  /** The header `X-Service-Namespace`. */
  readonly namespace: string | undefined;
  readonly operation: Operation;
  /** From `decodePath`. May begin with the path of a namespace. */
  readonly path: string;
  readonly remoteAddress: string;
  readonly requestId: string;
}

/** The decision, with as much of the caller as is known: the audit log needs it in either case. */
export type Decision = (Allowed | Refused) & {
  readonly caller: Caller;
  /** The path of the request, relative to the namespace of the caller. */
  readonly path: string;
};

interface Allowed {
  readonly allowed: true;
  /** Conditions of the policies that the caller must still check against the body; undefined if there are none. */
  readonly conditions: Conditions | undefined;
}

interface Refused {
  readonly allowed: false;
  readonly problem: Problem;
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
   * Decides again on a request that was allowed and is still being served, with the path that was authorized. Does not
   * consume a use, and no rate limit applies. Never throws.
   */
  review(request: AccessRequest): Promise<Decision>;
}

export interface AuthenticatorOptions {
  /**
   * Its role needs to read `login.tokens`, `policies`, `namespaces`, `auth_mounts`, `access_epoch`, `access_changes`,
   * `entities`, `entity_aliases`, `groups`, `group_aliases`, `rate_limit_quotas`, update `tokens.uses_left`, and insert
   * and update `rate_limit_usage`.
   */
  db: Db;
  keys: InternalKeys;
  /** By default, every row of the database is believed. */
  rows?: RowGuard | undefined;
  /** Requests per second. By default, only quotas limit them. */
  limits?: BuiltInLimits | undefined;
  /** Returns milliseconds since 1970. Default: the clock of the database. */
  clock?: () => number;
}

/**
 * Creates the authenticator, which determines the caller of a request and whether the request is allowed. It caches tokens and
 * namespaces, yet a revocation applies to every request that arrives after it was committed, on every gateway
 * (docs/conventions/access.md#tokens).
 */
export const createAuthenticator = (options: AuthenticatorOptions): Authenticator =>
  new DbAuthenticator(options);

class DbAuthenticator implements Authenticator {
  readonly #db: Db;
  readonly #tokens: TokenReader;
  readonly #policies: PolicySets;
  readonly #places: Places;
  readonly #limits: RateLimits;

  constructor({
    db,
    keys,
    rows = rowGuard(undefined),
    limits = noLimits,
    clock = db.now,
  }: AuthenticatorOptions) {
    const changes = accessChanges(db);
    this.#db = db;
    this.#tokens = tokenReader({ db, keys, changes, clock, rows });
    this.#policies = policySets(db, changes, rows);
    this.#places = new Places(db, changes);
    this.#limits = rateLimits({ db, changes, limits, clock });
  }

  async authenticate(request: AccessRequest): Promise<Decision> {
    const { operation, path, remoteAddress } = request;
    const sender = anonymousSender(request);
    let known: RequestFacts = { sender, place: { namespace: rootNamespace, path } };
    try {
      if (isUnwrapping(request)) {
        await this.#limits.pass('named', { remoteAddress, quota: undefined, isLogin: true });
        return allowed({ ...known, grant: noGrant }, operation); // the same in every namespace, whether or not that exists
      }
      const named = namedPlace(request);
      known = { sender, place: named };
      const entry = authRequirementAt(operation, named, Boolean(request.token));
      const quota = await this.#limits.quotaAt(entry.place);
      await this.#limits.pass('named', { remoteAddress, quota, isLogin: entry.isLogin });
      const admitted = await this.#enter(request, known, entry);
      known = admitted;
      await this.#passAllowed(admitted, quota, entry.kind !== 'login' && admitted.place.path !== path);
      return allowed(admitted, operation);
    } catch (error) {
      return refused(error, known);
    }
  }

  async review(request: AccessRequest): Promise<Decision> {
    const sender = anonymousSender(request);
    let known: RequestFacts = { sender, place: { namespace: rootNamespace, path: request.path } };
    try {
      known = { sender, place: namedPlace(request) };
      const admitted = await this.#authorize({ ...request, isReview: true }, known);
      return allowed(admitted, request.operation);
    } catch (error) {
      return refused(error, known);
    }
  }

  /**
   * Admits a request. An open path needs no token, and is served alike in every namespace, even one that does not
   * exist. A login needs no token if its mount exists. Where a token is optional, a namespace that does not exist looks
   * like an empty one without a token. Any other request is authorized by its token.
   */
  async #enter(request: AccessRequest, known: RequestFacts, entry: AuthRequirement): Promise<Admitted> {
    const { sender, place } = known;
    if (entry.kind === 'open')
      return { sender, place: { ...place, namespace: rootNamespace }, grant: noGrant };
    if (entry.kind === 'anonymous') {
      const named = place.namespace;
      const namespace = named.id === '' ? await this.#places.namespaceAt(named.path) : named;
      return { sender, place: { ...place, namespace: namespace ?? named }, grant: noGrant };
    }
    const login = entry.kind === 'login' ? await this.#places.ofLogin(entry) : undefined;
    if (login === undefined) return this.#authorize(request, known);
    return { sender: { ...sender, newestChange: login.epoch }, place: login.place, grant: noGrant };
  }

  /** Identifies the sender of a request by its token, locates where it takes place, and decides what is granted there. */
  async #authorize(request: Reviewable, { sender: origin, place: named }: RequestFacts): Promise<Admitted> {
    const found = (await this.#tokens.find(request.token ?? '')) ?? refuse();
    let known: RequestFacts = { sender: identifiedSender(found.token, origin), place: named };
    try {
      const rules = await this.#rulesFor(request, found);
      known = { ...known, place: await this.#places.locate(named, found) };
      const admitted = await this.#decide(request, known, { ...found, rules });
      known = admitted;
      requireAvailable(admitted.place);
      return admitted;
    } catch (error) {
      throw new Refusal(error, known);
    }
  }

  /** Returns the rules of a token that may be used from the address of a request. */
  async #rulesFor(
    { remoteAddress, isReview }: Reviewable,
    { token, hash, epoch }: FoundToken,
  ): Promise<CompiledPolicies> {
    if (token.boundTo?.includes(remoteAddress) === false) refuse();
    if (!isReview)
      await this.#limits.pass('identified', { token: token.accessor ?? hash.toString('base64') });
    const names = [...token.policies, ...token.identityPolicies];
    return this.#policies.get(names, { namespaceId: token.namespace.id, entityId: token.entityId }, epoch);
  }

  async #decide(
    { operation, isReview }: Reviewable,
    known: RequestFacts,
    { token, hash, epoch, rules }: FoundToken & { rules: CompiledPolicies },
  ): Promise<Admitted> {
    const { namespace, path } = known.place;
    const uses = needsOnlyToken(operation, path) ? 0 : 1;
    if (!isReview && token.hasLimitedUses && !(await consumeUse(this.#db, hash, uses))) refuse();
    const grant = await this.#policies.decide(token.namespace.id, rules, () =>
      decide(operation, known, rules),
    );
    const existing =
      namespace.id === ''
        ? ((await this.#places.namespaceAt(namespace.path, epoch)) ??
          notExisting(namespace, operation, grant))
        : namespace;
    return { sender: known.sender, place: { namespace: existing, path }, grant };
  }

  async #passAllowed(
    { sender, place }: RequestFacts,
    before: Quota | undefined,
    isMoved: boolean,
  ): Promise<void> {
    const { remoteAddress, tokenType } = sender;
    const namespace = tokenType === null ? undefined : place.namespace;
    const quota = isMoved ? await this.#limits.quotaAt(place) : before;
    await this.#limits.pass('allowed', { remoteAddress, quota, before, namespace });
  }
}

/** A request to `authenticate` or, with `isReview`, to `review`. */
type Reviewable = AccessRequest & { readonly isReview?: true };

/** An allowed request, with what the policies grant. */
type Admitted = RequestFacts & { readonly grant: Grant };

const allowed = ({ sender, place, grant }: Admitted, operation: Operation): Decision => ({
  allowed: true,
  caller: { ...sender, namespace: place.namespace, grants: grant.capabilities },
  conditions: conditionsFor(grant.conditions, operation),
  path: place.path,
});

/** @param known what was known when it failed, unless it is a `Refusal` that knows more */
function refused(error: unknown, known: RequestFacts): Decision {
  const {
    problem,
    known: { sender, place },
  } = error instanceof Refusal ? error : new Refusal(error, known);
  return {
    allowed: false,
    problem,
    caller: { ...sender, namespace: place.namespace, grants: [] },
    path: place.path,
  };
}

const isUnwrapping = ({ path, token }: AccessRequest): boolean =>
  takesWrappingToken(path) && isWrappingToken(token ?? '');

/** Only a sender whose policies allow the operation learns this. */
function notExisting({ path }: Namespace, operation: Operation, { capabilities }: Grant): never {
  if (!suffices(capabilities, operation)) refuse();
  throw new Problem('not_found', `namespace ${path} does not exist`);
}

function requireAvailable({ namespace, path }: Place): void {
  if (isAdministrativePath(path) && !isAdministrative(namespace))
    throw new Problem('forbidden', `${path} is available only in the root and the administrative namespace`);
}
