import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import type { Figure } from './figure.ts';

/** A table of figures, with notes that explain it. */
export interface Report {
  title: string;
  columns: string[];
  rows: string[][];
  notes: string[];
  /** All measurements, for the JSON file. */
  measured: unknown;
  /** The values that have a peer or a target, for the summary, the charts and the JSON file. */
  figures?: Figure[];
}

/** Formats all tables for a terminal. */
export const asText = (machine: string[], reports: Report[]): string =>
  [machine.join('\n'), ...reports.map(tableText)].join('\n\n');

function tableText({ title, columns, rows, notes }: Report): string {
  const widths = columns.map((column, at) =>
    Math.max(column.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd();
  return [title, line(columns), ...rows.map(line), ...notes.map((note) => `  ${note}`)].join('\n');
}

/** Formats all tables in Markdown. */
export const asMarkdown = (machine: string[], reports: Report[]): string =>
  `${[machine.map((line) => `- ${line}`).join('\n'), ...reports.map(tableMarkdown)].join('\n\n')}\n`;

function tableMarkdown({ title, columns, rows, notes }: Report): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, at) => (at === 0 ? '---' : '---:'));
  const table = [columns, rule, ...rows].map(line).join('\n');
  const remarks = notes.length === 0 ? '' : `\n\n${notes.map((note) => `- ${note}`).join('\n')}`;
  return `### ${title}\n\n${table}${remarks}`;
}

/** Returns lines with the date, the machine and the versions. */
export function describeMachine(versions: { postgres: string; rabbitmq: string }): string[] {
  const processors = cpus();
  const gibibytes = (totalmem() / 2 ** 30).toFixed(1);
  return [
    `date: ${new Date().toISOString()}`,
    `machine: ${processors.length} cores, ${processors[0]?.model ?? 'unknown CPU'}, ${gibibytes} GiB`,
    `Node ${process.versions.node}, Postgres ${versions.postgres}, RabbitMQ ${versions.rabbitmq}`,
  ];
}

const begin = '<!-- figures -->';
const end = '<!-- end of figures -->';

/** Writes figures to a file: between its two marks if it has them, otherwise as its whole content. */
export function writeFigures(file: string, figures: string): void {
  const page = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  const isMarked = from >= 0 && to > from;
  const text = isMarked ? `${page.slice(0, from)}${begin}\n\n${figures}\n${page.slice(to)}` : figures;
  writeFileSync(file, text);
}
