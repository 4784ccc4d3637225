import { z } from 'zod';

/** The work queue of a destination type. A message means "process this entry", and contains only ids. */
export const syncQueue = (destinationType: string): string => `sync.${destinationType.toLowerCase()}`;

export const EntryMessage = z.object({ entry_id: z.uuid(), destination_id: z.uuid() });
export type EntryMessage = z.infer<typeof EntryMessage>;

/** On the work queue too: "run this check, or remove the probe that it has left behind". */
export const CheckMessage = z.object({ check_id: z.uuid(), destination_id: z.uuid() });
export type CheckMessage = z.infer<typeof CheckMessage>;

/**
 * On the work queue too: "look at the external secret of this entry, and change nothing". To an earlier version, it is an
 * `EntryMessage` of an entry without work.
 */
export const LookMessage = EntryMessage.extend({ look: z.literal(true) });
export type LookMessage = z.infer<typeof LookMessage>;

/** Entries of one page of looks, at most: of a round by period, and of one that was requested. */
export const maxPageOfLooks = { byPeriod: 25, requested: 1_000 };

/**
 * On the work queue too: "look at the external secrets of these entries". To an earlier version, it is a `LookMessage` about the
 * first of them.
 */
export const LookPageMessage = LookMessage.extend({
  page_id: z.uuid(),
  entry_ids: z.array(z.uuid()).max(maxPageOfLooks.requested),
  /** The calls that were taken out of the budget for it. An earlier version does not say. */
  calls: z.int().positive().default(1),
  /** The time in which the budget grows by one call. An earlier version does not say. */
  call_ms: z.number().nonnegative().default(0),
  /** Whether somebody waits for it. */
  requested: z.boolean().default(false),
});
export type LookPageMessage = z.infer<typeof LookPageMessage>;

/**
 * On the work queue too: "read this from the store for the request that waits for it". To an earlier version, it is a
 * `CheckMessage` about a check that does not exist.
 */
export const StoreReadMessage = CheckMessage.extend({ store_read: z.literal(true) });
export type StoreReadMessage = z.infer<typeof StoreReadMessage>;

/** The queue on which `secrets` announces that a watched secret may have changed. */
export const secretChangesQueue = 'secret-changes';

export const SecretChangedMessage = z.object({
  secret_id: z.uuid(),
  /** Whether rules may match the secret since this change. An earlier version does not say. */
  to_match: z.boolean().default(false),
});
export type SecretChangedMessage = z.infer<typeof SecretChangedMessage>;
