import { Problem } from '@secrets/domain';
import pTimeout from 'p-timeout';

/** One step of a check: `ok`, `failed: …` or `not checked: …`. */
export interface CheckStep {
  step: string;
  result: string;
}

/** The outcome of a step, with what it found. */
export interface Outcome<T> {
  value?: T;
  result: string;
}

const stepMs = 8_000;

/** Runs a step for up to 8 s. A `Problem` is its outcome; other errors are thrown. */
export async function attempt<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  const message = new Problem('unavailable', 'no response within 8 seconds');
  try {
    return { value: await pTimeout(work(), { milliseconds: stepMs, message }), result: 'ok' };
  } catch (error) {
    if (error instanceof Problem) return { result: `failed: ${error.sentences[0]}` };
    throw error;
  }
}

export const notChecked = (reason: string): Outcome<never> => ({ result: `not checked: ${reason}` });
export const hasFailed = ({ result }: Outcome<unknown>): boolean => result !== 'ok';
