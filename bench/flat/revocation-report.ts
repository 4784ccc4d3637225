import { median } from '../load/statistics.ts';
import { type Figure, figure } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { type BySize, growthColumns, growthFigure, growthRow, maxGrowth } from './growth.ts';

/** Milliseconds from the request on, by the number of tokens that it revokes. */
export interface Times {
  responded: BySize;
  refused: BySize;
}

/** Number of revoked tokens that were not deleted yet at a time in milliseconds. */
export interface Left {
  at: number;
  tokens: number;
}

/** Measurements of one way to revoke many tokens. */
export interface MeasuredKind {
  name: string;
  times: Times;
  /** Each from the last revocation of a round until nothing was left. */
  deletions: Left[][];
}

/** Reports the times of revocations and the speed of the cleanup. */
export function reportOfRevocation(measured: MeasuredKind[], sizes: readonly number[]): Report {
  const figures: Figure[] = [];
  const rows = measured.flatMap(({ name, times: { responded, refused }, deletions }) => {
    const response = growthFigure(`revoking ${name}: response`, 'ms', responded);
    const refusal = growthFigure(`revoking ${name}: one of them is refused after`, 'ms', refused);
    const costs = deletions.map(costOfDeletion);
    const few = costs.map((cost) => cost.few);
    const many = costs.map((cost) => cost.many);
    const deletion = figure({
      name: `deleting ${name}: per 1,000 tokens`,
      measured: median(many),
      unit: 'ms',
      peer: { name: 'when few are left', measured: median(few) },
      target: { of: 'ratio', atMost: maxGrowth },
    });
    figures.push(response, refusal, deletion);
    const bySize: BySize = new Map(sizes.map((size, at) => [size, at === 0 ? few : many]));
    return [growthRow(response, responded), growthRow(refusal, refused), growthRow(deletion, bySize)];
  });
  return {
    title: 'Revocation of 1,000 and 100,000 tokens',
    columns: growthColumns(sizes),
    rows,
    notes,
    measured: measured.map(({ name, times, deletions }) => ({
      name,
      responded: Object.fromEntries(times.responded),
      refused: Object.fromEntries(times.refused),
      deletions,
    })),
    figures,
  };
}

const notes = [
  'revoking: medians of 75 tokens, and of 6 auth mounts, of each size in turn, in three rounds; refused: until a request with one of the tokens returns 403',
  'deleting happens in the background; the first column of its rows is the cost of the last fifth of the tokens, the other one that of the first fifth',
];

/**
 * Returns the milliseconds for 1,000 tokens within the first fifth of a cleanup, with many left, and within the last
 * one. What was not seen in progress does not count: the cleanup begins at some moment before it is first seen, and
 * ends at some moment after it is last seen.
 */
export function costOfDeletion(left: readonly Left[]): { many: number; few: number } {
  const seen = left.filter(({ tokens }) => tokens > 0 && tokens < left[0]!.tokens);
  const [most, fewest] = [seen[0]?.tokens ?? 0, seen.at(-1)?.tokens ?? 0];
  if (most === fewest) throw new Error('the tokens were deleted too fast to follow it');
  const fifth = (most - fewest) / 5;
  const perThousand = (from: number, to: number) =>
    ((momentOf(seen, to) - momentOf(seen, from)) / fifth) * 1_000;
  return { many: perThousand(most, most - fifth), few: perThousand(fewest + fifth, fewest) };
}

/** When so many tokens were left, interpolated between two observations. */
function momentOf(left: readonly Left[], tokens: number): number {
  const next = left.findIndex((each) => each.tokens <= tokens);
  const [before, after] = [left[Math.max(0, next - 1)]!, left[next]!];
  if (before.tokens === after.tokens) return after.at;
  return before.at + ((before.tokens - tokens) / (before.tokens - after.tokens)) * (after.at - before.at);
}
