import type { Namespace } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { Problem } from '@secrets/domain';
import type { AccessChanges } from '../changes/access-changes.ts';
import type { Place } from '../paths/namespace-prefix.ts';
import { budgetStore } from './budget-store.ts';
import { cachedQuotas, type Quota } from './quotas.ts';
import { LeasedBudget, type RateLimit } from './shared-budget.ts';

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

/** The stages at which a request counts towards rate limits, with what is known of it there. */
interface Stages {
  /**
   * Before anything is read about it. A login, or another request without a token that looks for something secret, has
   * a limit of its own.
   */
  named: { remoteAddress: string; quota: Quota | undefined; isLogin: boolean };
  /** When its token is known, by the accessor or what identifies it otherwise. */
  identified: { token: string };
  /**
   * When it is permitted. Only such requests use up these limits: otherwise, strangers could use up what tenants may
   * do. The quota is `before` unless the path began with a namespace. A request without a token has no `namespace`.
   */
  allowed: {
    remoteAddress: string;
    quota: Quota | undefined;
    before: Quota | undefined;
    namespace: Namespace | undefined;
  };
}

export interface RateLimits {
  /** Returns the quota that applies at a place. */
  quotaAt(place: Place): Promise<Quota | undefined>;
  /**
   * Takes a request out of the limits of a stage, one after the other.
   * @throws a problem (`rate_limited`) that says when to try again
   */
  pass<Stage extends keyof Stages>(stage: Stage, request: Readonly<Stages[Stage]>): Promise<void>;
}

export interface RateLimitsOptions {
  db: Sql;
  changes: AccessChanges;
  limits: BuiltInLimits;
  clock: () => number;
}

/** Creates the rate limits, which the gateways of an installation share. */
export function rateLimits({ db, changes, limits, clock }: RateLimitsOptions): RateLimits {
  const quotas = cachedQuotas(db, changes, clock);
  const budget = new LeasedBudget(budgetStore(db), clock);
  return {
    quotaAt: ({ namespace, path }) => quotas.on(namespace.path, path),
    pass: async (stage, request) => {
      for (const limitOf of limitsOf[stage]) {
        const limit = limitOf(request, limits);
        if (limit === undefined) continue;
        const waitMs = await budget.take(limit);
        if (waitMs > 0) throw exceeded(limit.whose, waitMs);
      }
    },
  };
}

/** A limit, and whose it is, which the error message names. */
interface Limit extends RateLimit {
  readonly whose: string;
}

type LimitOf<Request> = (request: Readonly<Request>, limits: BuiltInLimits) => Limit | undefined;

/** The limits of each stage, in their order. */
const limitsOf: { readonly [Stage in keyof Stages]: readonly LimitOf<Stages[Stage]>[] } = {
  named: [
    ({ quota, remoteAddress }) => addressLimit(quota, remoteAddress),
    ({ isLogin, remoteAddress }, { perLoginAddress }) =>
      isLogin
        ? perSecond(perLoginAddress, `login ${remoteAddress}`, 'of logins from this address')
        : undefined,
  ],
  identified: [({ token }, { perToken }) => perSecond(perToken, `token ${token}`, 'of this token')],
  allowed: [
    ({ quota, before, remoteAddress }) => (quota === before ? undefined : addressLimit(quota, remoteAddress)),
    ({ quota }) => (quota?.groupBy === 'none' ? quotaLimit(quota, 'all') : undefined),
    ({ namespace }, { perNamespace }) =>
      namespace && perSecond(perNamespace, `namespace ${namespace.id}`, 'of this namespace'),
  ],
};

const addressLimit = (quota: Quota | undefined, remoteAddress: string): Limit | undefined =>
  quota?.groupBy === 'ip' ? quotaLimit(quota, remoteAddress) : undefined;

const quotaLimit = ({ name, rate, intervalSeconds, blockSeconds }: Quota, group: string): Limit => ({
  key: `quota ${name} ${group}`,
  whose: name,
  max: Math.ceil(rate),
  intervalMs: intervalSeconds * 1_000,
  blockMs: blockSeconds * 1_000,
});

const perSecond = (max: number, key: string, whose: string): Limit | undefined =>
  max === 0 ? undefined : { key, whose, max, intervalMs: 1_000, blockMs: 0 };

const exceeded = (whose: string, waitMs: number) =>
  new Problem('rate_limited', `the rate limit ${whose} is exceeded`, {
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1_000)),
  });
