import DataLoader from 'dataloader';

const maxBatchSize = 100;

/**
 * Batches calls, to execute them in one statement: those that arrive while a batch is running form the next one. A busy
 * process needs fewer statements, and an idle one does not wait.
 *
 * `batch` returns a result for each item, in the same order, with undefined for an item that it left out. `single`
 * handles these items, or every item if `batch` throws, so that one item never fails the others. Neither the other items
 * nor the next batch wait for `single`.
 *
 * If `isFinal` is true of what `batch` throws, every call of the batch throws it instead, as when the database did not respond.
 */
export function batched<Item, Result>(
  batch: (items: readonly Item[]) => Promise<readonly (Result | undefined)[]>,
  single: (item: Item) => Promise<Result>,
  isFinal: (error: unknown) => boolean = () => false,
): (item: Item) => Promise<Result> {
  const run = async (items: readonly Item[]): Promise<Promise<Result>[]> => {
    const results = await batch(items).catch((error: unknown) => new Failed(error));
    return items.map(async (item, index) => {
      if (results instanceof Failed) {
        if (isFinal(results.error)) throw results.error;
        return single(item);
      }
      const result = results[index];
      return result === undefined ? single(item) : result;
    });
  };
  let inProgress: Promise<unknown> = Promise.resolve();
  // Its results are promises, so that each item ends by itself.
  const loader = new DataLoader<Item, Promise<Result>>(
    (items) => {
      const running = run(items);
      inProgress = running;
      return running;
    },
    {
      cache: false,
      maxBatchSize,
      batchScheduleFn: (dispatch) => void inProgress.then(() => setImmediate(dispatch)),
    },
  );
  return (item) => loader.load(item).then((result) => result);
}

class Failed {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}
