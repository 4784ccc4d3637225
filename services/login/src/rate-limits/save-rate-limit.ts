import { changeTag } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { rethrowViolation, type Tx } from '@secrets/db';
import { invalid } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  findClosestNamespace,
  findRateLimit,
  type RateLimitRow,
  type RateLimitSettings,
  upsertRateLimit,
} from '../queries/rate-limits.ts';
import { revoking } from '../queries/tokens/revocations.ts';

/** The fields that a request sets; absent fields are kept, or get their defaults. */
export interface RateLimitChange {
  /** From the root namespace: a namespace, and a mount or a path in it. */
  path?: string | undefined;
  rate?: number | undefined;
  interval?: number | undefined;
  block_interval?: number | undefined;
  inheritable?: boolean | undefined;
  group_by?: 'ip' | 'none' | undefined;
}

/** Each gateway keeps all of them in memory. */
const maxRateLimits = 1_000;

/**
 * Creates or updates a rate limit (docs/conventions/access.md#rate-limits). Throws `invalid` if
 * `rate` is missing or there are too many, `conflict` if another one has the path.
 */
export async function saveRateLimit(
  { db }: DbContext,
  caller: Caller,
  name: string,
  change: RateLimitChange,
): Promise<void> {
  const stored = await findRateLimit(db, name);
  requireGrant(caller, stored !== undefined);
  const place = change.path === undefined ? stored : await placeOf({ db }, change.path);
  const settings = merged(change, stored, place ?? rootPlace);
  const save = async (tx: Tx) => {
    if (!(await upsertRateLimit(tx, name, settings, maxRateLimits)))
      throw invalid(`there can be at most ${maxRateLimits} rate limits`);
  };
  await revoking(db, save, [changeTag.quotas]).catch(rethrowViolation('path: another rate limit has it'));
}

type Place = Pick<RateLimitSettings, 'namespaceId' | 'path' | 'writtenPath'>;

const rootPlace: Place = { namespaceId: 'root', path: '', writtenPath: '' };

/** The longest beginning of a path that is a namespace, and the rest. */
async function placeOf({ db }: DbContext, given: string): Promise<Place> {
  const segments = given.split('/').filter((segment) => segment !== '');
  const beginnings = segments.map((_, at) => segments.slice(0, at + 1).join('/'));
  const { id, path } = await findClosestNamespace(db, beginnings);
  const depth = path === '' ? 0 : path.split('/').length;
  return { namespaceId: id, path: segments.slice(depth).join('/'), writtenPath: given };
}

function merged(
  change: RateLimitChange,
  stored: RateLimitRow | undefined,
  { namespaceId, path, writtenPath }: Place,
): RateLimitSettings {
  const rate = change.rate ?? stored?.rate;
  if (rate === undefined) throw invalid('rate is required');
  const isGlobal = namespaceId === 'root' && path === '';
  if (isGlobal && change.inheritable === false)
    throw invalid('inheritable: a rate limit without a path applies in all namespaces');
  return {
    namespaceId,
    path,
    writtenPath,
    rate,
    intervalSeconds: change.interval ?? stored?.intervalSeconds ?? 1,
    blockSeconds: change.block_interval ?? stored?.blockSeconds ?? 0,
    inheritable: isGlobal || (change.inheritable ?? stored?.inheritable ?? false),
    groupBy: change.group_by ?? stored?.groupBy ?? 'ip',
  };
}
