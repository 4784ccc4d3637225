import { median, quantile } from '../load/statistics.ts';
import { describeTarget, type Figure, verdictOf } from '../output/figure.ts';
import { maxDelayMs } from './quiet-destination.ts';

/** The columns of `aloneRow` and `delayRow`. */
export const delayColumns = ['', 'p50 ms', 'p99 ms', 'max ms', 'p50 / alone', 'p99 / alone', 'target', 'met'];

/** Returns the row of the delays with which the others are compared. */
export const aloneRow = (what: string, delays: number[]): string[] => [
  what,
  ...figures(delays),
  '',
  '',
  '',
  '',
];

/** Returns the row of delays next to those without trouble. `judged` is the figure that has the target. */
export function delayRow(what: string, delays: number[], alone: number[], judged: Figure): string[] {
  const ratioAt = (share: number) => (quantile(delays, share) / quantile(alone, share)).toFixed(2);
  const target = `${judged.name.split(': ').at(-1)} ${describeTarget(judged)}`;
  return [what, ...figures(delays), ratioAt(0.5), ratioAt(0.99), target, verdictOf(judged)];
}

function figures(delays: number[]): string[] {
  const max = Math.max(...delays);
  const maxText = max < maxDelayMs ? max.toFixed(1) : `over ${maxDelayMs}`;
  return [median(delays).toFixed(1), quantile(delays, 0.99).toFixed(1), maxText];
}

/** Returns a line of progress. */
export const describeDelays = (what: string, delays: number[]): string => {
  const [p50, p99, max] = figures(delays);
  return `${what}: ${delays.length} writes, p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
};
