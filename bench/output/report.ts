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

/** Formats a table for a terminal. */
export function tableText({ title, columns, rows, notes }: Omit<Report, 'measured'>): string {
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

/** Formats a table in Markdown. */
export function tableMarkdown({ columns, rows }: Pick<Report, 'columns' | 'rows'>): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const rule = columns.map((_, at) => (at === 0 ? '---' : '---:'));
  return [columns, rule, ...rows].map(line).join('\n');
}

/** When and where figures are measured. */
export interface Setting {
  /** In UTC, to the minute. */
  date: string;
  machine: string;
  versions: string;
}

/** Describes this machine and its servers. */
export function describeMachine(versions: { postgres: string; rabbitmq: string }): Setting {
  const processors = cpus();
  const gibibytes = (totalmem() / 2 ** 30).toFixed(1);
  return {
    date: `${new Date().toISOString().slice(0, 16).replace('T', ', ')} UTC`,
    machine: `${processors.length} cores, ${processors[0]?.model ?? 'unknown CPU'}, ${gibibytes} GiB`,
    versions: `Node ${process.versions.node}, Postgres ${versions.postgres}, RabbitMQ ${versions.rabbitmq}`,
  };
}
