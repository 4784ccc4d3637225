import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { type DestinationDescription, destinationTypes, isPushed } from '@secrets/destinations';
import { seconds } from '../../../libs/domain/src/fields/lenient-fields.ts';
import { phrase, recorded, update, withRows } from './field-tables.ts';

const types = Object.values(destinationTypes);
const names = types.map(({ type }) => type);
const queueOf = (type: string) => type.toLowerCase();

/** Used by sync-control and by the runtime of the workers, for every type. */
const fieldsOfEveryType = names.reduce<string[]>(
  (common, type) => common.filter((name) => Object.hasOwn(destinationTypes[type]!.fields, name)),
  Object.keys(types[0]!.fields),
);

/** Comments begin a line, or follow a blank. */
const withoutComments = (source: string): string => source.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');

// That each operation reads the settings that it must, the conformance suite of the drivers tests (setting-tests.ts).
test.each(types)('the driver of $type uses every field of the type', ({ type, fields, appField }) => {
  const patterns = [
    `services/sync-worker-${queueOf(type)}/src/**/*.ts`,
    `libs/destinations/src/types/${queueOf(type)}.ts`,
  ];
  const sources = globSync(patterns)
    .filter((file) => !file.endsWith('.test.ts'))
    .map((file) => withoutComments(readFileSync(file, 'utf8')));
  const isUsed = (name: string) =>
    sources.some((source) => new RegExp(`\\b${name}\\b(?!: (connection|option|secret)\\()`).test(source));
  const own = Object.keys(fields).filter((name) => !fieldsOfEveryType.includes(name) && name !== appField);
  expect(own.filter((name) => fields[name]!.place !== 'request' && !isUsed(name))).toEqual([]);
});

/** The rows of the tables of fields in these texts, by the name of the field. */
const fieldRows = (...texts: string[]) =>
  new Map(
    texts
      .flatMap((text) => [...text.matchAll(/^\| `(\w+)` \|(.*?)\| ?(\w*) ?\|/gm)])
      .map(([, field, byDefault, change]) => [field!, { byDefault: byDefault!.trim(), change: change! }]),
  );

type AnyField = DestinationDescription['fields'][string];

const changeOf = (field: AnyField) => (field.immutable ? 'fixed' : isPushed(field) ? 'pushed' : '');

/** The default of a field as a page states it; undefined if it is described in words. */
function defaultOf({ fields, check, defaults }: DestinationDescription, name: string): string | undefined {
  const isRequired = check(defaults, new Set()).some((sentence) =>
    new RegExp(`^${name}: is required(;|$)`).test(sentence),
  );
  const field = fields[name]!;
  return isRequired ? 'required' : textOf('default' in field ? field.default : '');
}

const common = readFileSync('docs/destinations/README.md', 'utf8');

/** Returns the page of a type with a row for each field that not every type has. */
function withFields(text: string, description: DestinationDescription): string {
  const { type, fields } = description;
  const isElsewhere = fieldRows(common);
  const declared = Object.entries(fields).filter(([name]) => !isElsewhere.has(name));
  const rows = declared.map(([name, field]) => {
    const byDefault = defaultOf(description, name);
    const cell =
      byDefault === undefined ? 'none' : /^(\d+|required)$/.test(byDefault) ? byDefault : `\`${byDefault}\``;
    const created = `| \`${name}\` | ${cell} | ${changeOf(field)} | ${phrase(field.help)} |`;
    const corrected = (row: string) => {
      const stated = fieldRows(row).get(name)!;
      const isStated = statedDefault(stated.byDefault, type) === byDefault;
      const meaning = row.split(' | ').slice(3).join(' | ');
      return `| \`${name}\` | ${isStated ? stated.byDefault : cell} | ${changeOf(field)} | ${meaning}`;
    };
    return { name, created, corrected };
  });
  return withRows(text, '## Fields', rows);
}

describe.each(types)('the page of $type', (description) => {
  const { type, fields, maxValueBytes, nameRule, supportsTags, tagRule } = description;
  const page = `docs/destinations/${queueOf(type)}.md`;
  const text = recorded(page, (before) => withFields(before, description));
  const rows = fieldRows(common, text);

  test(`has a row for each field, and says what a change of it does (${update})`, () => {
    expect(Object.keys(fields).map((name) => [name, rows.get(name)?.change])).toEqual(
      Object.entries(fields).map(([name, field]) => [name, changeOf(field)]),
    );
  });

  test(`has no row for a field that the type does not have (${update})`, () => {
    const stated = [...fieldRows(text.split('\n## ')[1]!).keys()];
    expect(stated.filter((name) => fields[name] === undefined)).toEqual([]);
  });

  test(`states the default of each field, and names those that are required (${update})`, () => {
    const declared = Object.keys(fields).map((name) => [name, defaultOf(description, name)]);
    expect(declared.map(([name]) => [name, statedDefault(rows.get(name!)?.byDefault ?? '', type)])).toEqual(
      declared,
    );
  });

  test('states the limits and the default names of the type', () => {
    const limits = [
      maxValueBytes.toLocaleString('en'),
      nameRule.defaultTemplate('secrets', 'secret-path'),
      ...(supportsTags ? [`At most ${tagRule.maxCustomTags} custom tags`] : []),
    ];
    expect(limits.filter((limit) => !text.includes(limit))).toEqual([]);
  });
});

/** A default as a page states it; undefined for an empty one, which a page describes in words. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'object' || value === '' ? undefined : String(value);
}

/** The value in a cell such as "`a` for `some-type`, otherwise `b`"; undefined if the cell has only words. */
function statedDefault(cell: string, type: string): string | undefined {
  if (cell === 'required') return cell;
  const clauses = cell.split(', otherwise ');
  const clause = clauses.find((part) => !part.includes(' for ') || part.includes(`\`${type}\``)) ?? '';
  const duration = /^\d+\w*$/.exec(clause)?.[0];
  return duration === undefined ? /^`([\w-]+)`/.exec(clause)?.[1] : String(seconds.parse(duration));
}
