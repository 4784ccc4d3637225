import { type Api, dataOf } from '../../api/client.ts';
import type { Series } from '../../components/plot/bar-plot.tsx';

export const throughputPath = 'sys/sync/throughput';

/** Attempts per minute by destination type, the oldest minute first; the last one is not over. */
interface ThroughputNumbers {
  /** ISO 8601. */
  from: string;
  minutes: number;
  types: Record<string, { succeeded: number[]; failed: number[] }>;
}

export interface TypeTotals {
  type: string;
  succeeded: number;
  failed: number;
}

export async function readThroughput(api: Api): Promise<ThroughputNumbers> {
  const get = api.GET as unknown as (path: string) => Promise<{ data?: { data?: ThroughputNumbers } }>;
  return dataOf(await get('/v1/sys/sync/throughput'));
}

/** Returns the numbers of all types together, as the plot takes them. */
export function plotted({ from, minutes, types }: ThroughputNumbers): { times: number[]; series: Series[] } {
  const start = new Date(from).getTime() / 1000;
  const all = Object.values(types);
  const sum = (outcome: 'succeeded' | 'failed') =>
    Array.from({ length: minutes }, (_, minute) => total(all.map((type) => type[outcome][minute] ?? 0)));
  return {
    times: Array.from({ length: minutes }, (_, minute) => start + 60 * minute),
    series: [
      { label: 'succeeded', tone: 'good', values: sum('succeeded') },
      { label: 'failed', tone: 'bad', values: sum('failed') },
    ],
  };
}

/** Returns the sums of the hour by type, those with the most failures first. */
export const totalsOf = ({ types }: ThroughputNumbers): TypeTotals[] =>
  Object.entries(types)
    .map(([type, { succeeded, failed }]) => ({ type, succeeded: total(succeeded), failed: total(failed) }))
    .sort((one, other) => other.failed - one.failed || other.succeeded - one.succeeded);

const total = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);
