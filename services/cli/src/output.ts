/** The form of results: a table for people, or JSON for programs. */
export type Format = 'table' | 'json';

interface Column<Row> {
  title: string;
  of(row: Row): string | number | null | undefined;
}

/** Where a command writes: results to one stream, and what is said about the work to another. */
export interface Output {
  readonly format: Format;
  /** Prints rows: as a table, or each as a line of JSON. */
  rows<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void;
  /** Prints an object: as it is in JSON, or with this text. */
  object(value: object, text: string): void;
  /** Says something that is not a result. */
  note(sentence: string): void;
}

interface Streams {
  out(text: string): void;
  error(text: string): void;
}

export function openOutput(format: Format, { out, error }: Streams): Output {
  return {
    format,
    rows: (rows, columns) =>
      out(
        format === 'json' ? rows.map((row) => `${JSON.stringify(row)}\n`).join('') : tableOf(rows, columns),
      ),
    object: (value, text) => out(`${format === 'json' ? JSON.stringify(value) : text}\n`),
    note: (sentence) => error(`${printable(sentence)}\n`),
  };
}

/** Columns as wide as their longest cell, with two spaces between them. Nothing if there are no rows. */
function tableOf<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  if (rows.length === 0) return '';
  const cells = rows.map((row) => columns.map(({ of }) => printable(String(of(row) ?? ''))));
  const lines = [columns.map(({ title }) => title), ...cells];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, at) => cell.padEnd(widths[at]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** A text of a store may contain characters that control a terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{Cc}+/gu, ' ');
