import { z } from 'zod';
import { faultKinds } from './fault.ts';
import { SignedGrant } from './import-write.ts';

/** Whose an external secret is: the destination's own, another destination's, without an owner, or managed by the provider. */
const belongings = ['own', 'other', 'none', 'provider'] as const;
export type Belonging = (typeof belongings)[number];

/** A position in the list of a store: a page of the store, and the last name of it that was returned; empty before the first. */
export const StorePosition = z.object({ page: z.string().max(4_096).nullable(), name: z.string() });
export type StorePosition = z.infer<typeof StorePosition>;

/** External secrets in one response, at most. */
export const maxListed = 1_000;

/** A request to list part of one page of a store. */
const ListQuestion = z.object({
  after: StorePosition,
  limit: z.number().int().min(1).max(maxListed),
});
export type ListQuestion = z.infer<typeof ListQuestion>;

/** External secrets that one request looks at, at most. */
export const maxLookedAt = 50;

/** An external secret to compare with the value that it would get. */
const AskedSecret = z.object({
  name: z.string(),
  /** The keyed hash of the value (`pushedValuePurpose`). */
  hash: z.string(),
  /** The entry that has the name; null if there is none. */
  entryId: z.uuid().nullable(),
  /**
   * Set if the external secret would be imported: as a JSON object, or as any text. Then it is compared also if it has
   * no owner, and without a hash (empty), its state is `different` if its value could be taken.
   */
  importedAs: z.enum(['json', 'key']).optional(),
  /** Permits to write its value, if that is not equal. */
  write: SignedGrant.optional(),
});
export type AskedSecret = z.infer<typeof AskedSecret>;

/** A request to look at external secrets that would be written. */
const LookQuestion = z.object({ secrets: z.array(AskedSecret).min(1).max(maxLookedAt) });
export type LookQuestion = z.infer<typeof LookQuestion>;

export const StoreQuestion = z.union([LookQuestion, ListQuestion]);
export type StoreQuestion = z.infer<typeof StoreQuestion>;

const time = z.string().nullable();

/** An external secret as a list shows it, without its value. */
const ListedExternalSecret = z.object({
  name: z.string(),
  belongs: z.enum(belongings),
  isReadable: z.boolean(),
  createdAt: time,
  changedAt: time,
});
export type ListedExternalSecret = z.infer<typeof ListedExternalSecret>;

/** Why a worker could not read; the fault is null for an internal error. */
const ReadFailure = z.object({
  fault: z.enum(faultKinds).nullable(),
  /** The service's own sentence. */
  message: z.string(),
  retryAfterSeconds: z.number().optional(),
});
export type ReadFailure = z.infer<typeof ReadFailure>;

/**
 * States of a name, compared with the value that it would get; `foreign` also for what the provider manages, unless it would be
 * imported: then it is `provider`.
 */
const storeStates = [
  'absent',
  'equal',
  'different',
  'foreign',
  'another_destination',
  'provider',
  'unknown',
] as const;

/** The state that a look has found; the reason of `unknown` is a sentence. */
const StoreState = z.object({
  state: z.enum(storeStates),
  reason: z.string().nullable(),
  /** Whether a later look may succeed. */
  isTemporary: z.boolean().optional(),
  /** Whether the store does not return its value. */
  isHidden: z.boolean().optional(),
  /** Whether its value was written to the secret. */
  isWritten: z.boolean().optional(),
});
export type StoreState = z.infer<typeof StoreState>;

export const unknownState = (reason: string): StoreState => ({ state: 'unknown', reason });

/** The answer to a request to list; `next` is null after the last page. */
const ListAnswer = z.object({ secrets: z.array(ListedExternalSecret), next: StorePosition.nullable() });
export type ListAnswer = z.infer<typeof ListAnswer>;

/** The answer to a request to look, in the order of its secrets. */
const LookAnswer = z.object({ states: z.array(StoreState) });
export type LookAnswer = z.infer<typeof LookAnswer>;

/** The answer of a worker. */
export const StoreAnswer = z.union([ListAnswer, LookAnswer, z.object({ failure: ReadFailure })]);
export type StoreAnswer = z.infer<typeof StoreAnswer>;
