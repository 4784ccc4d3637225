import { readFileSync, writeFileSync } from 'node:fs';

// After a change of fields: UPDATE_FIELDS=1 npm test -- --no-rabbitmq tests/declarations/fields

/** Ends the titles of tests about what the command writes. */
export const update = 'written with UPDATE_FIELDS=1 npm test -- --no-rabbitmq tests/declarations/fields';

/** Returns the text of a file, after it was written again if UPDATE_FIELDS is set. */
export function recorded(file: string, agreeing: (text: string) => string): string {
  const text = readFileSync(file, 'utf8');
  if (process.env.UPDATE_FIELDS !== '1') return text;
  const changed = agreeing(text);
  if (changed !== text) writeFileSync(file, changed);
  return changed;
}

/** The names of fields in the first cell of a row. */
const namesIn = (row: string): string[] =>
  [...row.split(' | ')[0]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!);

/**
 * Returns the text with a row for each field in the first table below a heading. Rows that somebody has worded stay as they
 * are, unless `corrected` says otherwise; a new one is `created`. Rows of fields that are no longer declared are removed.
 */
export function withRows(
  text: string,
  heading: string,
  fields: { name: string; created: string; corrected?: (row: string) => string }[],
): string {
  const [before, after] = [text.slice(0, text.indexOf(heading)), text.slice(text.indexOf(heading))];
  const table = /(?<=\n)\|.*(?:\n\|.*)*/.exec(after)![0];
  const [head, line, ...rows] = table.split('\n');
  const fieldOf = (name: string) => fields.find((field) => field.name === name);
  const kept = rows
    .filter((row) => namesIn(row).some(fieldOf))
    .map((row) => fieldOf(namesIn(row)[0]!)?.corrected?.(row) ?? row);
  const present = kept.flatMap(namesIn);
  const added = fields.filter(({ name }) => !present.includes(name)).map(({ created }) => created);
  return before + after.replace(table, () => [head, line, ...kept, ...added].join('\n'));
}

/** Returns JavaScript in which a list of names has these, before what it spreads. */
export const withNames = (source: string, list: string, names: readonly string[]): string =>
  source.replace(new RegExp(`(const ${list} = \\[\n)([\\s\\S]*?)(?=\\];)`), (_, start, items: string) => {
    const spreads = items.split('\n').filter((item) => item.startsWith('  ...'));
    return [start + names.map((name) => `  '${name}',`).join('\n'), ...spreads, ''].join('\n');
  });

/** Help as a table words it: not as a sentence. */
export const phrase = (help: string): string =>
  help.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()).replace(/\.$/, '');
