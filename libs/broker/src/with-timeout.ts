import { Problem } from '@secrets/domain';

/** The promise's outcome, or `unavailable` with the sentence when it is not there after `ms`. */
export async function withTimeout<T>(ms: number, promise: Promise<T>, sentence: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Problem('unavailable', sentence)), Math.max(0, ms));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
