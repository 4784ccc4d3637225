import { Problem } from '@secrets/domain';

/** Counts logins by outcome: `issued`, the kind of problem, or `failed`. */
export interface LoginCounter {
  inc(labels: { outcome: string }): void;
}

/** Logs in, and counts the outcome. */
export async function counted<T>(counter: LoginCounter, logIn: () => Promise<T>): Promise<T> {
  try {
    const result = await logIn();
    counter.inc({ outcome: 'issued' });
    return result;
  } catch (error) {
    counter.inc({ outcome: error instanceof Problem ? error.kind : 'failed' });
    throw error;
  }
}
