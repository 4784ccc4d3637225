import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const isForTests = (file: string) =>
  /\.test\.tsx?$|\/testing(?:\.ts|\/)|\/conformance\/|\/node_modules\//.test(file);
const code = (file: string): string =>
  readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/g, '');
const sources = new Map(
  globSync(['{services,libs}/*/src/**/*.{ts,tsx}', '{bench,scripts}/**/*.{ts,mjs}'])
    .filter((file) => !isForTests(file))
    .map((file) => [file, code(file)]),
);

/** Names that only tests use, and for which `testing.ts` of their package is no place. */
const forTests = [
  'auditTo',
  'describeSchemas',
  'namesOf',
  'newestMigrations',
  'openEmbedded',
  'otherNamesIn',
  'silentLogger',
];

const exported = /^export (?:async )?(?:function|const|class) (\w+)/gm;
const names = [...sources].flatMap(([file, text]) =>
  /^(?:services|libs)\//.test(file) ? [...text.matchAll(exported)].map(([, name = '']) => name) : [],
);

// Knip counts what a test imports as used: a task that nothing repeats, or an endpoint that is in no list.
test('the product uses each function that it exports', () => {
  const uses = Map.groupBy(
    [...sources.values()].flatMap((text) => text.match(/\b\w+\b/g) ?? []),
    (word) => word,
  );
  expect(names.filter((name) => uses.get(name)?.length === 1).toSorted()).toEqual(forTests);
});
