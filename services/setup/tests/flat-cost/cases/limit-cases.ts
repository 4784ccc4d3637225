import { budgetStore } from '../../../../../libs/access/src/rate-limits/budget-store.ts';
import { readQuotas } from '../../../../../libs/access/src/rate-limits/quotas.ts';
import { requireSpaceToWrap } from '../../../../../libs/access/src/tokens/wrapped-space.ts';
import * as limits from '../../../../login/src/queries/rate-limits.ts';
import { type Case, casesOf } from './cases.ts';

const first = { after: '', limit: 101 };
const limit: limits.RateLimitSettings = {
  ...{ namespaceId: 'n7', path: 'new', writtenPath: 'n7/new/', rate: 1, intervalSeconds: 1, blockSeconds: 0 },
  ...{ inheritable: false, groupBy: 'ip' },
};
const gatewayCases: Case[] = casesOf('gateway', {
  'reading all rate limits': (db) => readQuotas(db),
  'taking out of the budgets of rate limits': async (db) => {
    const { ask } = budgetStore(db);
    await Promise.all([1, 2, 3].map((n) => ask({ key: `key${n}`, endsAt: 1_900_000_000_000, want: 5 })));
  },
  'blocking what exceeds a rate limit': (db) => budgetStore(db).block('key7', 1_900_000_000_000),
  'looking whether a response can be wrapped': (db) => requireSpaceToWrap(db, 'n7'),
});
const loginCases: Case[] = casesOf('login', {
  'finding a rate limit': (db) => limits.findRateLimit(db, 'limit7'),
  'listing rate limits': (db) => limits.listRateLimits(db, first),
  'writing a rate limit': (db) => limits.upsertRateLimit(db, 'limit7', limit, 1_000),
  'deleting a rate limit': (db) => limits.deleteRateLimit(db, 'limit7'),
  'finding the namespace of a path': (db) => limits.findClosestNamespace(db, ['n7', 'n7/a', 'n7/a/b']),
  'deleting a page of usage': (db) => limits.deletePageOfUsage(db, 500),
});

/** The statements on rate limits, of login and of the gateway. */
export const limitCases: Case[] = [...gatewayCases, ...loginCases];
