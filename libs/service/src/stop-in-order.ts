/** Something that runs until it is stopped. */
export interface Running {
  stop(): Promise<void>;
}

/** Stops one part after the other, in the order given. A part that fails does not keep the next one from being stopped. */
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
