import type { TopLevelSpec } from 'vega-lite';
import { describeTarget, type Figure, shortNumber } from './figure.ts';

/** Readable on light and on dark pages. */
const colors = {
  met: '#2f81f7',
  missed: '#d9730d',
  'no target': '#8b949e',
  peer: '#8250df',
  limit: '#f85149',
};

const config = {
  background: 'transparent',
  view: { stroke: null },
  font: 'sans-serif',
  axisY: { labelLimit: 420, ticks: false, domain: false },
  axisX: { gridOpacity: 0.2 },
} as const;

/**
 * Describes a chart of figures with the same unit: a bar for what was measured, a mark for the peer, and a line for the
 * limit.
 */
export function barChart(title: string, unit: string, figures: readonly Figure[]): TopLevelSpec {
  const values = figures.map((each) => ({
    name: each.name,
    measured: each.measured,
    peer: each.peer?.measured,
    limit: each.limit,
    label: labelOf(each),
    verdict: each.met === undefined ? 'no target' : each.met ? 'met' : 'missed',
  }));
  const y = { field: 'name', type: 'nominal', sort: null, title: null } as const;
  const x = (field: string) => ({ field, type: 'quantitative', title: unit }) as const;
  const color = {
    field: 'verdict',
    type: 'nominal',
    title: null,
    scale: {
      domain: ['met', 'missed', 'no target'],
      range: [colors.met, colors.missed, colors['no target']],
    },
    legend: { orient: 'bottom' },
  } as const;
  return {
    title: { text: title, subtitle: 'bar: measured, ○ compared with, │ limit', anchor: 'start', offset: 14 },
    data: { values },
    width: 460,
    height: { step: 32 },
    layer: [
      { mark: { type: 'bar', height: 12 }, encoding: { y, x: x('measured'), color } },
      {
        mark: {
          type: 'point',
          filled: true,
          fill: '#ffffff',
          stroke: colors.peer,
          size: 45,
          strokeWidth: 2,
          opacity: 1,
        },
        encoding: { y, x: x('peer') },
      },
      {
        mark: { type: 'tick', color: colors.limit, thickness: 3, size: 22, opacity: 1 },
        encoding: { y, x: x('limit') },
      },
      {
        mark: { type: 'text', align: 'left', baseline: 'bottom', dx: 1, dy: -7, fontSize: 9.5 },
        encoding: { y, x: { datum: 0 }, text: { field: 'label' } },
      },
    ],
    config,
  };
}

const labelOf = (each: Figure): string => {
  const ratio = each.ratio === undefined ? '' : ` = ${shortNumber(each.ratio)} × ${each.peer?.name}`;
  return `${shortNumber(each.measured)}${ratio}${each.target === undefined ? '' : `, target ${describeTarget(each)}`}`;
};
