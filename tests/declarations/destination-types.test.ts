import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
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

test('every destination type has tests of its settings', () => {
  const files = names.map((type) => `services/sync-worker-${queueOf(type)}/tests/setting-effects.test.ts`);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
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
    'k8s/chart/*',
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
