import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pagesOf, summaryOf } from './docs-pages.ts';
import { mergeResults, type Result, readResults } from './results.ts';
import { writeCharts } from './write-charts.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = join(root, 'docs/performance.md');
const folderOfDocs = join(root, 'docs/performance');
const fileName = 'figures.json';
/** The figures that the documentation shows. */
export const figuresOfDocs = join(folderOfDocs, fileName);

/** Writes all results as JSON, and charts of their figures, into a folder. `details` are the single measurements. */
export async function writeResults(
  folder: string,
  results: readonly Result[],
  details: Record<string, unknown>,
): Promise<void> {
  await writeCharts(folder, results);
  writeJson(join(folder, fileName), results);
  writeJson(join(folder, 'measurements.json'), details);
}

/**
 * Writes results into docs/performance.md and the folder beside it. Those of earlier runs stay, unless they have the
 * title of a new one.
 */
export async function writeDocs(results: readonly Result[]): Promise<void> {
  const all = mergeResults(readResults(figuresOfDocs), results);
  await writeCharts(folderOfDocs, all);
  writeJson(figuresOfDocs, all);
  for (const [file, text] of docsOf(all)) writeFileSync(file, text);
}

/** Returns the text of docs/performance.md and of the pages beside it, by file. */
export function docsOf(results: readonly Result[]): Map<string, string> {
  const pages = [...pagesOf(results)].map(([name, text]) => [join(folderOfDocs, name), text] as const);
  return new Map([[page, withSummary(readFileSync(page, 'utf8'), summaryOf(results))], ...pages]);
}

function writeJson(file: string, value: unknown): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 1)}\n`);
}

/** Replaces what is between the two marks of the summary. */
function withSummary(text: string, summary: string): string {
  const [begin, end] = ['<!-- summary -->', '<!-- end of summary -->'];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no place for its summary: ${begin} … ${end}`);
  return `${text.slice(0, from)}${begin}\n\n${summary}\n\n${text.slice(to)}`;
}
