import { Problem } from '@secrets/domain';

/** An attempt fails only if another writer succeeded, so this many writers of one secret can be served at once. */
const maxAttempts = 50;

/**
 * Repeats a write until it returns something; undefined means that a concurrent writer changed the secret. Throws
 * `unavailable` after 50 attempts.
 */
export async function retryWrite<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    const result = await attempt();
    if (result !== undefined) return result;
  }
  throw new Problem('unavailable', 'too many concurrent writers of this secret; try again');
}
