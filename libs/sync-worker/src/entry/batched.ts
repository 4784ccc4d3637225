import DataLoader from 'dataloader';

const maxBatchSize = 100;

/**
 * Batches calls: those that arrive while a batch is under way form the next one. A busy worker needs fewer statements,
 * an idle one waits for nothing.
 *
 * `batch` returns a result for each item, in the same order; undefined where it left an item out. `single` then handles
 * such an item. It handles every item when `batch` throws, so that one item never fails the others.
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
  let underWay: Promise<unknown> = Promise.resolve();
  const loader = new DataLoader<Item, Result>(
    (items) => {
      const running = run(items);
      underWay = running;
      return running;
    },
    {
      cache: false,
      maxBatchSize: maxBatchSize,
      batchScheduleFn: (dispatch) => void underWay.then(() => setImmediate(dispatch)),
    },
  );
  return (item) => loader.load(item);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('unknown', { cause: error });
