import { changeTag } from '@secrets/access';
import { requireFound } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, flag, pageQuery, requireNonEmpty, seconds } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { deleteRateLimit, findRateLimit, listRateLimits, type RateLimitRow } from '../queries/rate-limits.ts';
import { revoking } from '../queries/tokens/revocations.ts';
import { saveRateLimit } from '../rate-limits/save-rate-limit.ts';

const basePath = '/sys/quotas/rate-limit';
const path = `${basePath}/:name`;

const RateLimitParams = z.object({
  name: z
    .string()
    .max(128, 'must have at most 128 characters')
    .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/, 'may contain only letters, digits and _.-'),
});
const RateLimitBody = z.object({
  path: z
    .string()
    .max(1_024, 'must have at most 1024 characters')
    .regex(/^[^*]*$/, 'must not contain *: a path includes everything below it')
    .optional(),
  rate: z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d+(\.\d+)?$/)
          .transform(Number),
      ],
      { error: 'must be a number' },
    )
    .pipe(z.number().positive('must be greater than 0').max(1_000_000, 'must be at most 1000000'))
    .optional(),
  interval: seconds.refine((value) => value >= 1, { error: 'must be at least 1 second' }).optional(),
  block_interval: seconds.optional(),
  inheritable: flag.optional(),
  group_by: z.enum(['ip', 'none'], { error: 'must be ip or none' }).optional(),
  role: z.literal('', { error: 'is not supported' }).optional(),
  type: z.literal('rate-limit', { error: 'must be rate-limit' }).optional(),
});

/** `sys/quotas/rate-limit/<name>` (docs/conventions/access.md#rate-limits). */
export const rateLimitEndpoints = (context: Context): Endpoint[] => [
  listLimits(context),
  readLimit(context),
  writeLimit(context),
  removeLimit(context),
];

const listLimits = (context: Context) =>
  endpoint({
    method: 'list',
    path: basePath,
    summary: 'List the rate limits',
    access: { isAdministrative: true },
    query: pageQuery({ max: 1_000 }),
    handle: async ({ query, warn }) => {
      const { after = '', limit } = query;
      const names = requireNonEmpty(await listRateLimits(context.db, { after, limit: limit + 1 }));
      return { data: { keys: cutToPage(names, limit, (name) => ({ after: name }), warn) } };
    },
  });

const readLimit = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a rate limit',
    access: { isAdministrative: true },
    params: RateLimitParams,
    handle: async ({ params }) => {
      const row = requireFound(await findRateLimit(context.db, params.name));
      return { data: presentRateLimit(row) };
    },
  });

const writeLimit = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create or update a rate limit; omitted fields keep their values',
    access: { isAdministrative: true },
    needs: 'create or update',
    params: RateLimitParams,
    body: RateLimitBody,
    handle: ({ params, body, caller }) => saveRateLimit(context, caller, params.name, body),
  });

const removeLimit = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete a rate limit',
    access: { isAdministrative: true },
    params: RateLimitParams,
    handle: async ({ params }) => {
      await revoking(context.db, (tx) => deleteRateLimit(tx, params.name), [changeTag.quotas]);
    },
  });

const presentRateLimit = (row: RateLimitRow) => ({
  type: 'rate-limit',
  name: row.name,
  path: row.writtenPath,
  rate: row.rate,
  interval: row.intervalSeconds,
  block_interval: row.blockSeconds,
  inheritable: row.inheritable,
  group_by: row.groupBy,
  role: '',
});
