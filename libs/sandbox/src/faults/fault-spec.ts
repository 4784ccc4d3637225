import { z } from 'zod';

const aim = {
  /** Operation or operations that it hits; every one when absent. */
  operation: z.union([z.string().max(128), z.array(z.string().max(128)).min(1).max(32)]).optional(),
  /** Pattern of the secret's name, `*` for any text; every call when absent. */
  name: z.string().max(512).optional(),
  /** How many calls it hits before it is over; until removed when absent. */
  times: z.int().positive().optional(),
};

const milliseconds = z.int().nonnegative().max(600_000);
const retryAfterSeconds = z.int().positive().max(86_400).optional();

/**
 * A fault as it is ordered, in the process or as JSON over HTTP. `slow` and `stale-list` only change how the
 * operation is done; `rate-limit` throttles what exceeds its rate; of all others the first that matches wins.
 */
export const FaultSpec = z.discriminatedUnion('effect', [
  z.object({ ...aim, effect: z.literal('throttle'), retryAfterSeconds }),
  z.object({
    ...aim,
    effect: z.literal('rate-limit'),
    perSecond: z.number().positive().max(1_000_000),
    burst: z.number().positive().max(1_000_000).optional(),
    retryAfterSeconds,
  }),
  z.object({
    ...aim,
    effect: z.literal('error'),
    code: z.string().min(1).max(128),
    status: z.int().min(400).max(599).default(400),
    message: z.string().max(1024).optional(),
  }),
  z.object({ ...aim, effect: z.literal('server-error') }),
  z.object({ ...aim, effect: z.literal('refuse-signature') }),
  z.object({ ...aim, effect: z.literal('garbage') }),
  z.object({
    ...aim,
    effect: z.literal('huge'),
    bytes: z
      .int()
      .positive()
      .max(256 * 1024 * 1024)
      .default(64 * 1024 * 1024),
  }),
  z.object({ ...aim, effect: z.literal('redirect'), location: z.string().max(2048).optional() }),
  z.object({ ...aim, effect: z.literal('silence') }),
  z.object({ ...aim, effect: z.literal('reset') }),
  z.object({ ...aim, effect: z.literal('act-then-die') }),
  z.object({ ...aim, effect: z.literal('slow'), ms: milliseconds }),
  z.object({ ...aim, effect: z.literal('stale-list'), ms: milliseconds }),
]);

export type FaultSpec = z.input<typeof FaultSpec>;
export type Fault = z.output<typeof FaultSpec>;
