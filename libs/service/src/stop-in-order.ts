/** Something that runs until it is stopped. */
export interface Running {
  stop(): Promise<void>;
}

/**
 * Stops parts one after the other, in this order. If one fails, the others are still stopped; `stop` then rejects with the
 * first error.
 */
export function stopInOrder(...parts: (() => Promise<unknown> | unknown)[]): Running {
  return {
    stop: async () => {
      const failures: unknown[] = [];
      for (const part of parts)
        await Promise.resolve()
          .then(part)
          .catch((error: unknown) => failures.push(error));
      if (failures.length > 0) throw failures[0];
    },
  };
}
