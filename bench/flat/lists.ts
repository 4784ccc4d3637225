import { randomInt, randomUUID } from 'node:crypto';
import type { BenchOptions } from '../command-line.ts';
import type { Figure } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { busyMount, type } from '../scheduling/busy-destination.ts';
import { type BySize, growthColumns, growthFigure, growthRow } from './growth.ts';
import { failedEntries, secretName } from './insert-associations.ts';
import { destinations, large, type SizedProduct, sizes, withSizedProducts } from './sized-products.ts';

const repetitions = 200;
const pageSize = 100;

/** Measures what reading costs with few and with many associations. */
export const benchLists = (options: BenchOptions): Promise<Report[]> =>
  withSizedProducts(options, { workers: 0 }, async (products) => {
    const measured = new Map<string, BySize>();
    for (const [name, path] of Object.entries(reads)) {
      measured.set(name, await timesOf(products, path));
      options.log(name);
    }
    return [reportOf(measured)];
  });

/** The path of each read, of which `count` is the number of associations. */
type Read = (count: number) => string;

const associations = `${destinations}/${large}/associations`;
const reads: Record<string, Read> = {
  'destinations of a secret': (count) =>
    `sys/sync/associations/${busyMount}/${secretName(large, randomInt(count) + 1)}`,
  'first page of associations': () => `${associations}?limit=${pageSize}`,
  'page of associations in the middle': () =>
    `${associations}?limit=${pageSize}&after=${randomUUID().replace(/^./, '7')}`,
  'page of associations that have failed': () => `${associations}?limit=${pageSize}&status=CLIENT_SIDE_ERROR`,
  'page of associated secrets': () => `sys/sync/associations?list=true&limit=${pageSize}`,
  'status of a destination with 1,000 of them': () => `sys/sync/status?limit=1&after=${type}/${large}`,
  'status of the destination with all of them': () => `sys/sync/status?limit=1`,
};

/** Reads from every product in turn, and returns the milliseconds of each response. */
async function timesOf(products: SizedProduct[], path: Read): Promise<BySize> {
  const bySize: BySize = new Map(products.map((sized) => [sized.associations, []]));
  const warmUps = repetitions / 10;
  for (let repetition = -warmUps; repetition < repetitions; repetition += 1)
    for (const [at] of products.entries()) {
      const sized = products[(at + repetition + warmUps) % products.length]!;
      const began = performance.now();
      await sized.product.api('GET', path(sized.associations));
      if (repetition >= 0) bySize.get(sized.associations)!.push(performance.now() - began);
    }
  return bySize;
}

function reportOf(measured: Map<string, BySize>): Report {
  const figures: Figure[] = [];
  const rows = [...measured].map(([name, bySize]) => {
    const grown = growthFigure(name, 'ms', bySize);
    figures.push(grown);
    return growthRow(grown, bySize);
  });
  return {
    title: 'Reading with 1,000 to 1,000,000 associations',
    columns: growthColumns(sizes),
    rows,
    notes,
    measured: Object.fromEntries([...measured].map(([name, bySize]) => [name, Object.fromEntries(bySize)])),
    figures,
  };
}

const notes = [
  `median of ${repetitions} requests through the gateway, one after the other, at each size in turn; every size has a database and services of its own`,
  `associations of one destination, next to another one with 1,000; ${failedEntries} of each have failed; a page has ${pageSize}`,
];
