import DataLoader from 'dataloader';

const mostAtOnce = 100;

/**
 * Makes one call of many: calls that come while one is under way are done together when it has ended, so that a busy
 * worker needs fewer statements and one that is not waits for nothing.
 *
 * `together` gives a result for each item, in their order; undefined where it left an item out. Such a one is done
 * `alone`, and so is each when `together` throws: one item never spoils the others.
 */
export function gather<Item, Result>(
  together: (items: readonly Item[]) => Promise<readonly (Result | undefined)[]>,
  alone: (item: Item) => Promise<Result>,
): (item: Item) => Promise<Result> {
  const each = (item: Item) => alone(item).catch(asError);
  const run = async (items: readonly Item[]): Promise<(Result | Error)[]> => {
    if (items.length === 1) return Promise.all(items.map(each));
    const results = await together(items).catch((): undefined[] => []);
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
      maxBatchSize: mostAtOnce,
      batchScheduleFn: (dispatch) => void underWay.then(() => setImmediate(dispatch)),
    },
  );
  return (item) => loader.load(item);
}

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('unknown', { cause: error });
