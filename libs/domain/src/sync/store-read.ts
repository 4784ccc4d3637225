import { z } from 'zod';
import { faultKinds } from './fault.ts';

/** Whose an external secret is: the destination's own, another destination's, without an owner, or managed by the provider. */
const belongings = ['own', 'other', 'none', 'provider'] as const;
export type Belonging = (typeof belongings)[number];

/** A position in the list of a store: a page of the store, and the last name of it that was returned; empty before the first. */
export const StorePosition = z.object({ page: z.string().max(4_096).nullable(), name: z.string() });
export type StorePosition = z.infer<typeof StorePosition>;

/** External secrets in one response, at most. */
export const maxListed = 1_000;

/** A request to list part of one page of a store. */
export const StoreQuestion = z.object({
  after: StorePosition,
  limit: z.number().int().min(1).max(maxListed),
});
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

/** The answer of a worker; `next` is null after the last page. */
export const StoreAnswer = z.union([
  z.object({ secrets: z.array(ListedExternalSecret), next: StorePosition.nullable() }),
  z.object({ failure: ReadFailure }),
]);
export type StoreAnswer = z.infer<typeof StoreAnswer>;
