import { median } from '../load/statistics.ts';
import { type Figure, figure, verdictOf } from '../output/figure.ts';

/** Maximum ratio of a cost at the largest size to the cost at the smallest. */
export const maxGrowth = 1.1;

/** Repeated measurements of one cost at each size, from the smallest to the largest. */
export type BySize = Map<number, number[]>;

/** Compares the cost at the largest size with that at the smallest. `unit` is that of the cost. */
export function growthFigure(name: string, unit: string, bySize: BySize): Figure {
  const sizes = [...bySize.keys()];
  const [smallest, largest] = [sizes[0]!, sizes.at(-1)!];
  return figure({
    name,
    measured: median(bySize.get(largest)!),
    unit,
    peer: { name: `with ${countOf(smallest)}`, measured: median(bySize.get(smallest)!) },
    target: { of: 'ratio', atMost: maxGrowth },
  });
}

const countOf = (size: number): string => size.toLocaleString('en-US');

/** The columns of `growthRow`. */
export const growthColumns = (sizes: readonly number[]): string[] => [
  '',
  ...sizes.map(countOf),
  'largest / smallest',
  'target',
  'met',
];

/** Returns the row of a cost: its median at each size, and how much it grows. */
export const growthRow = (grown: Figure, bySize: BySize, digits = 1): string[] => [
  `${grown.name}, ${grown.unit}`,
  ...[...bySize.values()].map((values) => median(values).toFixed(digits)),
  grown.ratio!.toFixed(2),
  `≤ ${maxGrowth}`,
  verdictOf(grown),
];
