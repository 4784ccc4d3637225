import { Problem } from '@secrets/domain';

/** Either the result of a part of a login, or the first sentence of the problem that it threw. */
export type Attempted<Value> = { value: Value; reason?: undefined } | { value?: undefined; reason: string };

/** Does a part of a login. Throws only errors that are not problems. */
export function attempt<Value>(work: () => Value): Attempted<Value> {
  try {
    return { value: work() };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** Does a part of a login that waits for something. Throws only errors that are not problems. */
export const attemptAsync = <Value>(work: Promise<Value>): Promise<Attempted<Value>> =>
  work.then(
    (value) => ({ value }),
    (error: unknown) => ({ reason: reasonOf(error) }),
  );

function reasonOf(error: unknown): string {
  if (error instanceof Problem) return error.sentences[0] ?? error.kind;
  throw error;
}
