import type { TopLevelSpec } from 'vega-lite';
import { describeTarget, type Figure } from '../figure.ts';

/** Readable on light and on dark pages. */
const colors = {
  met: '#2f81f7',
  missed: '#d9730d',
  'no target': '#8b949e',
  peer: '#8250df',
  limit: '#cf222e',
};

/** Describes a chart of figures with the same unit: a bar for what was measured, a mark for the peer, and a line for the limit. */
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
    title: 'bar: measured; ○: compared with; │: limit',
    scale: {
      domain: ['met', 'missed', 'no target'],
      range: [colors.met, colors.missed, colors['no target']],
    },
    legend: { orient: 'bottom', titleOrient: 'left' },
  } as const;
  return {
    title: { text: title, anchor: 'start' },
    data: { values },
    width: 460,
    height: { step: 26 },
    layer: [
      { mark: { type: 'bar', height: 12 }, encoding: { y, x: x('measured'), color } },
      {
        mark: { type: 'point', color: colors.peer, size: 50, strokeWidth: 2 },
        encoding: { y, x: x('peer') },
      },
      {
        mark: { type: 'tick', color: colors.limit, thickness: 2.5, size: 22 },
        encoding: { y, x: x('limit') },
      },
      {
        mark: { type: 'text', align: 'left', baseline: 'bottom', dx: 3, dy: -5, fontSize: 9 },
        encoding: { y, x: { datum: 0 }, text: { field: 'label' } },
      },
    ],
    config: {
      background: 'transparent',
      view: { stroke: null },
      font: 'sans-serif',
      axisY: { labelLimit: 420, ticks: false, domain: false },
      axisX: { gridOpacity: 0.2 },
    },
  };
}

const labelOf = (each: Figure): string =>
  [
    each.measured.toPrecision(3),
    each.ratio === undefined ? '' : `= ${each.ratio.toFixed(2)} × ${each.peer?.name}`,
  ]
    .concat(each.target === undefined ? [] : [`(${describeTarget(each)})`])
    .filter((part) => part !== '')
    .join(' ');
