import { Problem, permissionDenied } from '@secrets/domain';
import type { Place } from '../paths/namespace-prefix.ts';
import type { Sender } from './identify.ts';

/** The facts known about a request so far: its sender and its place. */
export interface RequestFacts {
  readonly sender: Sender;
  readonly place: Place;
}

/** A refused request, with what was known about it. */
export class Refusal extends Error {
  readonly problem: Problem;
  readonly known: RequestFacts;

  /** @param failure a `Problem`, or the error that prevented a decision */
  constructor(failure: unknown, known: RequestFacts) {
    super('refused', { cause: failure });
    this.problem = failure instanceof Problem ? failure : undecided(failure);
    this.known = known;
  }
}

const undecided = (cause: unknown): Problem =>
  new Problem('unavailable', 'the token could not be checked because the database is unavailable', { cause });

/** Throws `permission denied`, without a reason. */
export function refuse(): never {
  throw permissionDenied();
}
