import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { slug } from 'github-slugger';
import { describeTarget, type Figure, shortNumber, verdictOf } from '../figure.ts';
import { tableMarkdown } from '../report.ts';
import { mergeResults, type Result, readResults } from './results.ts';
import { type Chart, writeCharts } from './write-charts.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = join(root, 'docs/performance.md');
const folderOfPage = join(root, 'docs/performance');
const fileName = 'figures.json';

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
 * Writes results into docs/performance.md and the folder beside it. Those of earlier runs stay, unless they have the title of a new one.
 * @param order the names of all benchmarks, in the order in which they are shown
 */
export async function writeDocs(results: readonly Result[], order: readonly string[]): Promise<void> {
  const file = join(folderOfPage, fileName);
  const all = mergeResults(readResults(file), results, order);
  const charts = await writeCharts(folderOfPage, all);
  writeJson(file, all);
  const parts = { summary: summaryOf(all), charts: chartsOf(charts), figures: detailsOf(all) };
  let text = readFileSync(page, 'utf8');
  for (const [name, part] of Object.entries(parts)) text = replacePart(text, name, part);
  writeFileSync(page, text);
}

function writeJson(file: string, value: unknown): void {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 1)}\n`);
}

/** Replaces what is between the two marks of a part of the page. */
function replacePart(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`the page has no place for its ${name}: ${begin} … ${end}`);
  return `${text.slice(0, from)}${begin}\n\n${part}\n\n${text.slice(to)}`;
}

/** A row for each figure that has a target. */
function summaryOf(results: readonly Result[]): string {
  const rows = results.flatMap((result) =>
    result.figures
      .filter(({ target }) => target !== undefined)
      .map((each) => summaryRow(result, each, describeFigure(results, result, each))),
  );
  return tableMarkdown({
    columns: ['figure', 'measured', 'compared with', 'ratio', 'target', 'met'],
    rows,
  });
}

/** The name of a figure, and the title of its result if another result of the same benchmark has a figure of that name. */
function describeFigure(results: readonly Result[], result: Result, { name }: Figure): string {
  const hasIt = (other: Result) =>
    other.benchmark === result.benchmark && other.figures.some((each) => each.name === name);
  return results.filter(hasIt).length > 1 ? `${name} (${result.title})` : name;
}

const summaryRow = ({ benchmark, title }: Result, each: Figure, description: string): string[] => [
  `[${benchmark}](#${slug(title)}): ${description}`,
  `${shortNumber(each.measured)} ${each.unit}`,
  each.peer === undefined ? '' : `${each.peer.name}: ${shortNumber(each.peer.measured)}`,
  each.ratio === undefined ? '' : shortNumber(each.ratio),
  describeTarget(each),
  verdictOf(each),
];

const chartsOf = (charts: readonly Chart[]): string =>
  [...Map.groupBy(charts, ({ benchmark }) => benchmark)]
    .map(([benchmark, own]) => {
      const images = own.map(({ file, title }) => `![${title}](performance/${file})`);
      return `### \`${benchmark}\`\n\n${images.join('\n\n')}`;
    })
    .join('\n\n');

const detailsOf = (results: readonly Result[]): string =>
  results
    .map((result) => {
      const { title, date, machine, versions, notes } = result;
      const list = [...notes, `measured ${date} on ${machine}; ${versions}`].map((note) => `- ${note}`);
      return `### ${title}\n\n${tableMarkdown(result)}\n\n${list.join('\n')}`;
    })
    .join('\n\n');
