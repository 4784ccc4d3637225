import { describe, expect, it } from '@jest/globals';
import { plotted, totalsOf } from './throughput-numbers.ts';

const numbers = {
  from: '2026-01-01T00:00:00.000Z',
  minutes: 3,
  types: {
    'cloudA-sm': { succeeded: [1, 2, 3], failed: [0, 0, 1] },
    codehost: { succeeded: [10, 0, 0], failed: [0, 4, 0] },
  },
};

describe('the throughput', () => {
  it('is plotted for all types together, a minute apart', () => {
    const { times, series } = plotted(numbers);
    expect(times.map((time) => time - (times[0] ?? 0))).toEqual([0, 60, 120]);
    expect(series.map(({ values }) => values)).toEqual([
      [11, 2, 3],
      [0, 4, 1],
    ]);
  });

  it('is summed by type, those with the most failures first', () => {
    expect(totalsOf(numbers)).toEqual([
      { type: 'codehost', succeeded: 10, failed: 4 },
      { type: 'cloudA-sm', succeeded: 6, failed: 1 },
    ]);
  });
});
