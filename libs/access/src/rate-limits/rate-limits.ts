import type { Namespace } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { Problem } from '@secrets/domain';
import type { AccessChanges } from '../changes/access-changes.ts';
import { budgetStore } from './budget-store.ts';
import { cachedQuotas, type Quota, type Quotas } from './quotas.ts';
import { LeasedBudget, type SharedBudget } from './shared-budget.ts';

/** Requests per second that apply without a quota; 0 for no limit. */
export interface BuiltInLimits {
  /** Of each token. */
  perToken: number;
  /** Logins from each address. */
  perLoginAddress: number;
  /** Of each namespace, with all its tokens. Requests in namespaces below count there. */
  perNamespace: number;
}

export const noLimits: BuiltInLimits = { perToken: 0, perLoginAddress: 0, perNamespace: 0 };

/** What is known about a request before its token is read. */
interface LimitedRequest {
  namespace: string;
  path: string;
  remoteAddress: string;
}

/** Refuses requests that exceed a limit, with a problem (`rate_limited`) that says when to try again. */
export interface RateLimits {
  /** Limits by address, before anything is read about a request. Returns what `afterAccess` needs. */
  beforeAccess(request: LimitedRequest): Promise<Quota | undefined>;
  /** Limits the logins of an address, and the other requests without a token that look for something secret. */
  ofLogins(remoteAddress: string): Promise<void>;
  /** Limits a request that takes place in a namespace with which its path begins, unless the same quota has limited it already. */
  afterLocating(quota: Quota | undefined, request: LimitedRequest): Promise<Quota | undefined>;
  /** @param token its accessor, or what identifies it otherwise */
  ofToken(token: string): Promise<void>;
  /**
   * Limits that only permitted requests use up: otherwise, strangers could use up what tenants may do.
   * @param namespace undefined for a request without a token
   */
  afterAccess(quota: Quota | undefined, namespace: Namespace | undefined): Promise<void>;
}

export interface RateLimitsOptions {
  db: Sql;
  changes: AccessChanges;
  limits: BuiltInLimits;
  clock: () => number;
}

export function rateLimits({ db, changes, limits, clock }: RateLimitsOptions): RateLimits {
  return new SharedRateLimits(
    limits,
    cachedQuotas(db, changes, clock),
    new LeasedBudget(budgetStore(db), clock),
  );
}

class SharedRateLimits implements RateLimits {
  readonly #limits: BuiltInLimits;
  readonly #quotas: Quotas;
  readonly #budget: SharedBudget;

  constructor(limits: BuiltInLimits, quotas: Quotas, budget: SharedBudget) {
    this.#limits = limits;
    this.#quotas = quotas;
    this.#budget = budget;
  }

  async beforeAccess(request: LimitedRequest): Promise<Quota | undefined> {
    const quota = await this.#quotas.on(request.namespace, request.path);
    if (quota?.groupBy === 'ip') await this.#takeQuota(quota, request.remoteAddress);
    return quota;
  }

  ofLogins(remoteAddress: string): Promise<void> {
    return this.#take(`login ${remoteAddress}`, this.#limits.perLoginAddress, 'of logins from this address');
  }

  async afterLocating(quota: Quota | undefined, request: LimitedRequest): Promise<Quota | undefined> {
    const located = await this.#quotas.on(request.namespace, request.path);
    if (located?.groupBy === 'ip' && located !== quota) await this.#takeQuota(located, request.remoteAddress);
    return located;
  }

  ofToken(token: string): Promise<void> {
    return this.#take(`token ${token}`, this.#limits.perToken, 'of this token');
  }

  async afterAccess(quota: Quota | undefined, namespace: Namespace | undefined): Promise<void> {
    if (quota?.groupBy === 'none') await this.#takeQuota(quota, 'all');
    if (namespace === undefined) return;
    await this.#take(`namespace ${namespace.id}`, this.#limits.perNamespace, 'of this namespace');
  }

  async #takeQuota({ name, rate, intervalSeconds, blockSeconds }: Quota, group: string): Promise<void> {
    const waitMs = await this.#budget.take({
      key: `quota ${name} ${group}`,
      max: Math.ceil(rate),
      intervalMs: intervalSeconds * 1_000,
      blockMs: blockSeconds * 1_000,
    });
    if (waitMs > 0) throw exceeded(`the rate limit ${name} is exceeded`, waitMs);
  }

  async #take(key: string, perSecond: number, whose: string): Promise<void> {
    if (perSecond === 0) return;
    const waitMs = await this.#budget.take({ key, max: perSecond, intervalMs: 1_000, blockMs: 0 });
    if (waitMs > 0) throw exceeded(`the rate limit ${whose} is exceeded`, waitMs);
  }
}

const exceeded = (sentence: string, waitMs: number) =>
  new Problem('rate_limited', sentence, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)) });
