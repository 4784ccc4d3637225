import { z } from 'zod';

const matching = {
  /** The operation or operations that the fault affects; all of them by default. */
  operation: z.union([z.string().max(128), z.array(z.string().max(128)).min(1).max(32)]).optional(),
  /** Pattern for the secret's name, where `*` matches any text; all calls by default. */
  name: z.string().max(512).optional(),
  /** The fault expires after this many calls. By default, it stays active until it is removed. */
  times: z.int().positive().optional(),
  /** The fault affects only each `every`th matching call. */
  every: z.int().positive().max(1_000_000).optional(),
};

const milliseconds = z.int().nonnegative().max(600_000);
const retryAfterSeconds = z.int().positive().max(86_400).optional();

/**
 * A fault to inject, in-process or as JSON over HTTP. `slow`, `stale-list` and `stale-read` change how the operation is
 * performed. All other effects replace the response; if several match a call, the first one wins. `rate-limit`
 * throttles only the calls that exceed its rate.
 */
export const FaultSpec = z.discriminatedUnion('effect', [
  z.object({ ...matching, effect: z.literal('throttle'), retryAfterSeconds }),
  z.object({
    ...matching,
    effect: z.literal('rate-limit'),
    perSecond: z.number().positive().max(1_000_000),
    burst: z.number().positive().max(1_000_000).optional(),
    retryAfterSeconds,
  }),
  z.object({
    ...matching,
    effect: z.literal('error'),
    code: z.string().min(1).max(128),
    status: z.int().min(400).max(599).default(400),
    message: z.string().max(1024).optional(),
  }),
  z.object({ ...matching, effect: z.literal('server-error') }),
  z.object({ ...matching, effect: z.literal('refuse-signature') }),
  z.object({ ...matching, effect: z.literal('garbage') }),
  z.object({
    ...matching,
    effect: z.literal('huge'),
    bytes: z
      .int()
      .positive()
      .max(256 * 1024 * 1024)
      .default(64 * 1024 * 1024),
  }),
  z.object({
    ...matching,
    effect: z.literal('redirect'),
    location: z.string().max(2048).optional(),
    status: z.literal([301, 302, 303, 307, 308]).default(302),
  }),
  z.object({
    ...matching,
    effect: z.literal('many-headers'),
    lines: z.int().positive().max(100_000).default(20_000),
  }),
  z.object({
    ...matching,
    effect: z.literal('deep'),
    levels: z.int().positive().max(1_000_000).default(100_000),
  }),
  z.object({ ...matching, effect: z.literal('empty') }),
  z.object({ ...matching, effect: z.literal('cut-off') }),
  z.object({ ...matching, effect: z.literal('silence') }),
  z.object({ ...matching, effect: z.literal('reset') }),
  z.object({ ...matching, effect: z.literal('act-then-die') }),
  z.object({ ...matching, effect: z.literal('act-then-fail') }),
  z.object({ ...matching, effect: z.literal('act-then-wait'), ms: milliseconds }),
  z.object({ ...matching, effect: z.literal('slow'), ms: milliseconds }),
  z.object({ ...matching, effect: z.literal('stale-list'), ms: milliseconds }),
  z.object({ ...matching, effect: z.literal('stale-read'), ms: milliseconds }),
]);

export type FaultSpec = z.input<typeof FaultSpec>;
export type Fault = z.output<typeof FaultSpec>;
