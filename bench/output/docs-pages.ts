import { abouts } from './abouts.ts';
import { describeTarget, type Figure, shortNumber } from './figure.ts';
import { tableMarkdown } from './report.ts';
import type { Result } from './results.ts';
import { chartsOf } from './write-charts.ts';

/** Returns the page of each benchmark in docs/performance/, by the name of its file: the charts and tables of its results. */
export const pagesOf = (results: readonly Result[]): Map<string, string> =>
  new Map([...byBenchmark(results)].map(([benchmark, own]) => [`${benchmark}.md`, textOf(own)]));

const byBenchmark = (results: readonly Result[]) => Map.groupBy(results, ({ benchmark }) => benchmark);

function textOf(results: readonly Result[]): string {
  const dates = new Set(results.map(({ date }) => date));
  const chapters = results.map((result) => {
    const charts = chartsOf(result).map(({ file, unit }) => `![Chart of the figures in ${unit}](${file})`);
    return [`## ${result.title}`, tableMarkdown(result), ...charts];
  });
  const notes = [...new Set(results.flatMap((result) => result.notes))].map((note) => `- ${note}`);
  const parts = [
    `# Figures of \`${results[0]!.benchmark}\``,
    `Written by \`npm run bench -- --docs\` ([performance.md](../performance.md)); measured ${[...dates].join(' and ')}.`,
    ...chapters.flat(),
    '## Notes',
    notes.join('\n'),
  ];
  return `${parts.join('\n\n')}\n`;
}

/**
 * Returns a table with a row for each benchmark: how many of its targets are met, and which are missed. Below it is
 * where they were measured.
 */
export function summaryOf(results: readonly Result[]): string {
  const rows = [...byBenchmark(results)].map(([benchmark, own]) => {
    const judged = own.flatMap(({ figures }) => figures).filter(({ target }) => target !== undefined);
    const met = judged.filter((each) => each.met).length;
    return [
      `[\`${benchmark}\`](performance/${benchmark}.md): ${abouts[benchmark]}`,
      `${met} of ${judged.length}`,
      own.flatMap((result) => missedOf(result, own.length > 1)).join('; '),
    ];
  });
  const table = tableMarkdown({ columns: ['figures', 'targets met', 'missed: measured (target)'], rows });
  const settings = Map.groupBy(results, ({ machine, versions }) => `${machine}; ${versions}`);
  const lines = [...settings].map(([setting, own]) =>
    settings.size === 1
      ? `Measured on ${setting}.`
      : `- ${[...byBenchmark(own).keys()].join(', ')}: measured on ${setting}`,
  );
  return `${table}\n\n${lines.join('\n')}`;
}

/** Lists the figures of a result that miss their targets, after its title if the benchmark has others. */
function missedOf({ title, figures }: Result, isTitled: boolean): string[] {
  const missed = Map.groupBy(
    figures.filter(({ met }) => met === false),
    describeTarget,
  );
  const lists = [...missed].map(([target, own]) => {
    const values = own.map((each) => `${each.name}: ${measuredOf(each)}`);
    return `${values.join('; ')} (${target})`;
  });
  return lists.length === 0 ? [] : [`${isTitled ? `**${title}:** ` : ''}${lists.join('; ')}`];
}

/** Formats a measured value in the terms of its target: as a ratio or with its unit. */
const measuredOf = ({ measured, unit, ratio, target }: Figure): string =>
  target?.of === 'ratio' ? `${shortNumber(ratio ?? null)} ×` : `${shortNumber(measured)} ${unit}`;
