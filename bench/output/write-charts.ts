import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vega from 'vega';
import { compile } from 'vega-lite';
import type { Figure } from '../figure.ts';
import { barChart } from './bar-chart.ts';
import type { Result } from './results.ts';

/** A chart in a file. */
export interface Chart {
  /** Name of the file. */
  file: string;
  title: string;
  benchmark: string;
}

/** Writes a chart for each unit of each result that has figures, and returns them. */
export async function writeCharts(folder: string, results: readonly Result[]): Promise<Chart[]> {
  mkdirSync(folder, { recursive: true });
  const charts: Chart[] = [];
  for (const { benchmark, title, figures } of results)
    for (const [unit, ofUnit] of Map.groupBy(figures, (each) => each.unit)) {
      const file = fileName(title, unit);
      writeFileSync(join(folder, file), await svgOf(title, unit, ofUnit));
      charts.push({ file, title: `${title}: ${unit}`, benchmark });
    }
  return charts;
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
