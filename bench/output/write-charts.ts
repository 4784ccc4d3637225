import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vega from 'vega';
import { compile } from 'vega-lite';
import { barChart } from './bar-chart.ts';
import type { Figure } from './figure.ts';
import type { Result } from './results.ts';

interface Chart {
  /** Name of the file. */
  file: string;
  unit: string;
  /** Returns the chart as SVG. */
  draw(): Promise<string>;
}

/** A chart of fewer figures says nothing that its table does not. */
const fewestBars = 3;

/** Returns the charts of a result: one for each unit of its figures that has enough of them. */
export const chartsOf = ({ title, figures }: Result): Chart[] =>
  [...Map.groupBy(figures, (each) => each.unit)]
    .filter(([, ofUnit]) => ofUnit.length >= fewestBars)
    .map(([unit, ofUnit]) => ({
      file: fileName(title, unit),
      unit,
      draw: () => svgOf(title, unit, ofUnit),
    }));

/** Writes the charts of all results. */
export async function writeCharts(folder: string, results: readonly Result[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const { file, draw } of results.flatMap(chartsOf)) writeFileSync(join(folder, file), await draw());
}

const fileName = (title: string, unit: string): string =>
  `${`${title} ${unit}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')}.svg`;

/** Text and axes are dark on light pages and light on dark ones. */
const style = `<style>text{fill:#1f2328}.role-axis line{stroke:#8b949e}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}</style>`;

async function svgOf(title: string, unit: string, figures: readonly Figure[]): Promise<string> {
  const { spec } = compile(barChart(title, unit, figures));
  const view = new vega.View(vega.parse(spec), { renderer: 'none' });
  const svg = await view.toSVG();
  view.finalize();
  return `${svg.replace(/<svg[^>]*>/, (tag) => tag + style)}\n`;
}
