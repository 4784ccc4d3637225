import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import { workers } from '../services/setup/src/database-roles.ts';
import { sandboxTypes } from './harness/destination-types.ts';

const types = Object.values(destinationTypes);
const names = types.map(({ type }) => type);
const queueOf = (type: string) => type.toLowerCase();

/** What a page says of each type (docs/adding-a-destination.md#6-deployment). */
const sentences: [page: string, (of: (typeof types)[number]) => string][] = [
  ['README.md', ({ type }) => `\`${type}\``],
  ['docs/api.md', ({ type }) => `Fields of \`${type}\`:`],
  ['docs/api.md', ({ type }) => `[\`${type}\`](conventions.md#`],
  ['docs/conventions.md', ({ type }) => ` \`${type}\`\n`], // the heading of its rules
  ['docs/conventions.md', ({ type, immutableFields }) => `| \`${type}\` | \`${immutableFields[0]}\``],
  ['docs/conventions.md', ({ type }) => `| \`${type}\` | \``],
  ['docs/operations.md', ({ type }) => `(sync-worker-${queueOf(type)})`],
  ['docs/operations.md', ({ type, budget }) => `\`${type}=${budget.perSecond}\``],
  ['docs/operations.md', ({ type }) => `\`sync.${queueOf(type)}\``],
  ['docs/sandbox.md', ({ type }) => `| \`${type}\` | `],
];

test('every destination type has a worker', () => {
  expect([...workers].sort()).toEqual(names.map((type) => `sync-worker-${queueOf(type)}`).sort());
});

test('every destination type is among those that the demo and the tests of all types run with', () => {
  expect(sandboxTypes.map(({ type }) => type).sort()).toEqual([...names].sort());
});

test('the documentation describes every destination type', () => {
  const missing = sentences.flatMap(([page, sentence]) => {
    const text = readFileSync(page, 'utf8');
    return types
      .map(sentence)
      .filter((wanted) => !text.includes(wanted))
      .map((wanted) => `${page}: ${wanted}`);
  });
  expect(missing).toEqual([]);
});

test('the documentation of the API lists every field of a destination type', () => {
  const page = readFileSync('docs/api.md', 'utf8');
  const sections = page.split(/(?=^Fields of )/m);
  for (const { type, fields } of types) {
    const own = sections.find((section) => section.startsWith(`Fields of \`${type}\`:`)) ?? '';
    const shared = sections.filter((section) => /^Fields of (all|the cloud) types/.test(section)).join('');
    const listed = (field: string) => own.includes(`\`${field}\``) || shared.includes(`\`${field}\``);
    expect([type, Object.keys(fields.shape).filter((field) => !listed(field))]).toEqual([type, []]);
  }
});
