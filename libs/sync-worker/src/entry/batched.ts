import DataLoader from 'dataloader';

const maxBatchSize = 100;

/**
 * Batches calls: those that arrive while a batch is running form the next one. A busy worker needs fewer statements,
 * and an idle one does not wait.
 *
 * `batch` returns a result for each item, in the same order, with undefined for an item that it left out. `single`
 * handles these items, or every item if `batch` throws, so that one item never fails the others.
 */
export function batched<Item, Result>(
  batch: (items: readonly Item[]) => Promise<readonly (Result | undefined)[]>,
  single: (item: Item) => Promise<Result>,
): (item: Item) => Promise<Result> {
  const each = (item: Item) => single(item).catch(asError);
  const run = async (items: readonly Item[]): Promise<(Result | Error)[]> => {
    if (items.length === 1) return Promise.all(items.map(each));
    const results = await batch(items).catch((): undefined[] => []);
    return Promise.all(
      items.map((item, index) => {
        const result = results[index];
        return result === undefined ? each(item) : result;
      }),
    );
  };
  let inProgress: Promise<unknown> = Promise.resolve();
  const loader = new DataLoader<Item, Result>(
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
  return (item) => loader.load(item);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('unknown', { cause: error });
