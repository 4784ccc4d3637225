import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import { seconds } from '../../libs/domain/src/fields/lenient-fields.ts';
import { workers } from '../../services/setup/src/database-roles.ts';
import { sandboxTypes } from '../harness/destination-types.ts';

const types = Object.values(destinationTypes);
const names = types.map(({ type }) => type);
const queueOf = (type: string) => type.toLowerCase();

/** Text that each file must contain for each type (docs/adding-a-destination.md#checklist). */
const sentences: [page: string, (of: (typeof types)[number]) => string][] = [
  ['README.md', ({ type }) => `\`${type}\``],
  ['docs/destinations/README.md', ({ type }) => `| [\`${type}\`](${queueOf(type)}.md) |`],
  ['docs/operations/settings.md', ({ type }) => `(sync-worker-${queueOf(type)})`],
  ['docs/operations/settings.md', ({ type, budget }) => `\`${type}=${budget.perSecond}\``],
  ['docs/operations/sync.md', ({ type }) => `\`sync.${queueOf(type)}\``],
  ['docker-compose.yml', ({ type }) => `\n  sync-worker-${queueOf(type)}:\n`],
  [
    'docker-compose.yml',
    ({ type }) => `- keys-sync-worker-${queueOf(type)}:/keys/sync-worker-${queueOf(type)}\n`,
  ],
  ['docker-compose.yml', ({ type }) => `\n  keys-sync-worker-${queueOf(type)}:\n`],
  ['observability/prometheus.yml', ({ type }) => `job_name: sync-worker-${queueOf(type)}\n`],
  ['services/standalone/src/drivers.ts', ({ type }) => `'@secrets/sync-worker-${queueOf(type)}'`],
  ['docs/sandbox.md', ({ type }) => `| \`${type}\` | `],
  [
    'services/console/src/pages/destinations/form/destination-types.ts',
    ({ type }) => `  ${/\W/.test(type) ? `'${type}'` : type}: '`,
  ],
];

test('every destination type has a worker', () => {
  expect([...workers].sort()).toEqual(names.map((type) => `sync-worker-${queueOf(type)}`).sort());
});

test('every destination type is among those that the demo and the tests of all types run with', () => {
  expect(sandboxTypes.map(({ type }) => type).sort()).toEqual([...names].sort());
});

test('Compose, the standalone service, the console and the documentation have every destination type', () => {
  const missing = sentences.flatMap(([page, sentence]) => {
    const text = readFileSync(page, 'utf8');
    return types
      .map(sentence)
      .filter((wanted) => !text.includes(wanted))
      .map((wanted) => `${page}: ${wanted}`);
  });
  expect(missing).toEqual([]);
});

test('the checklist for a new type names every file that lists all types', () => {
  const generated = [
    '*/examples.json',
    '*/path-rules.json',
    '*/recorded-seconds.json',
    'docs/performance*',
    'pnpm-lock.yaml',
  ];
  const others = [...generated, 'CHANGELOG.md', '*.test.ts'].map((pattern) => `:!${pattern}`);
  const search = ['grep', '-liI', '--all-match', ...names.flatMap((type) => ['-e', type]), '--', ...others];
  const files = execFileSync('git', search, { encoding: 'utf8' }).trim().split('\n');
  const checklist = readFileSync('docs/adding-a-destination.md', 'utf8');
  expect(files.filter((file) => !checklist.includes(basename(file)))).toEqual([]);
});

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

/** The rows of the tables of fields on these pages, by the name of the field. */
const fieldRows = (...pages: string[]) =>
  new Map(
    pages
      .flatMap((page) => [...readFileSync(page, 'utf8').matchAll(/^\| `(\w+)` \| (.*?) \| ?(\w*) ?\|/gm)])
      .map(([, field, byDefault, change]) => [field!, { byDefault: byDefault!, change: change! }]),
  );

describe.each(types)('the page of $type', (description) => {
  const { type, fields, check, defaults, maxValueBytes, nameRule, supportsTags, tagRule } = description;
  const page = `docs/destinations/${queueOf(type)}.md`;
  const rowsOf = () => fieldRows('docs/destinations/README.md', page);

  test('has a row for each field, and says what a change of it does', () => {
    const rows = rowsOf();
    const change = ({ immutable, pushed }: (typeof fields)[string]) =>
      immutable ? 'fixed' : pushed ? 'pushed' : '';
    expect(Object.keys(fields).map((name) => [name, rows.get(name)?.change])).toEqual(
      Object.entries(fields).map(([name, field]) => [name, change(field)]),
    );
  });

  test('states the default of each field, and names those that are required', () => {
    const rows = rowsOf();
    const sentences = check(defaults, new Set());
    const isRequired = (name: string) =>
      sentences.some((sentence) => new RegExp(`^${name}: is required(;|$)`).test(sentence));
    const declared = Object.entries(fields).map(([name, field]) => [
      name,
      isRequired(name) ? 'required' : textOf('default' in field ? field.default : ''),
    ]);
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
    const text = readFileSync(page, 'utf8');
    expect(limits.filter((limit) => !text.includes(limit))).toEqual([]);
  });
});

/** A default as a page states it; undefined for an empty one, which a page describes in words. */
const textOf = (value: unknown): string | undefined =>
  typeof value === 'object' || value === '' ? undefined : String(value);

/** The value in a cell such as "`a` for `some-type`, otherwise `b`"; undefined if the cell has only words. */
function statedDefault(cell: string, type: string): string | undefined {
  if (cell === 'required') return cell;
  const clauses = cell.split(', otherwise ');
  const clause = clauses.find((part) => !part.includes(' for ') || part.includes(`\`${type}\``)) ?? '';
  const duration = /^\d+\w*$/.exec(clause)?.[0];
  return duration === undefined ? /^`([\w-]+)`/.exec(clause)?.[1] : String(seconds.parse(duration));
}
