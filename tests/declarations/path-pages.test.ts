import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { declaredEndpoints } from '../../scripts/console/describe-api.ts';
import { publicEndpoints, withDeclaredPaths } from './declared-paths.ts';

// After a change of paths, or of what they need: UPDATE_PATHS=1 npm test -- --no-rabbitmq tests/declarations/path
const endpoints = Object.values(declaredEndpoints()).flatMap(publicEndpoints);
const overview = 'docs/api.md';
const read = (file: string) => readFileSync(file, 'utf8');

if (process.env.UPDATE_PATHS === '1') writeFileSync(overview, withDeclaredPaths(read(overview), endpoints));

test('docs/api.md lists the paths with each capability: UPDATE_PATHS=1 npm test -- --no-rabbitmq tests/declarations/path', () => {
  const page = read(overview);
  expect(page.split('\n')).toEqual(withDeclaredPaths(page, endpoints).split('\n'));
});

/** The requests in the rows of the topics: tables whose columns begin with `Method` and `Path`. */
const documented = new Set(
  [overview, 'docs/api/access.md', 'docs/api/secrets.md', 'docs/api/sync.md']
    .flatMap((file) => read(file).split(/\n\n+/))
    .filter((table) => /^\| Method \| Path \|/.test(table))
    .flatMap((table) => table.split('\n').slice(2))
    .flatMap((row) => {
      const [, methods = '', paths = ''] = row.split(/ ?\| /);
      const names = [...paths.replace(/\(.*?\)/g, '').matchAll(/`([^`]+)`/g)].map(([, name = '']) =>
        name.replace(/<\w+>/g, '<>'),
      );
      return methods.split(', ').flatMap((method) => names.map((name) => `${method} ${name}`));
    }),
);

/** A destination of one type: all types have one row, and the same endpoints. */
const ofType = /(sys\/sync\/destinations)\/[^:<>/]+\/(?=:name$|<>$)/;

const requests = endpoints.map(({ method, path }) => {
  const name = path.slice(1).replace(/[:*]\w+/g, '<>');
  return `${method.toUpperCase()} ${name.replace(ofType, '$1/<>/')}`;
});

test('every endpoint has a row in a table of its topic, with its method and path', () => {
  expect(requests.filter((request) => !documented.has(request))).toEqual([]);
});

test('every row in a table of a topic is of an endpoint', () => {
  expect([...documented].filter((request) => !requests.includes(request))).toEqual([]);
});

test('a test names every path, in the tests of its service or in those of the whole system', () => {
  const files = globSync(['services/*/{src,tests}/**/*.test.ts', 'tests/e2e/**/*.test.ts']);
  const tests = files.map(read).join('\n');
  const paths = endpoints.map(({ path }) => path.slice(1).replace(ofType, '$1/:type/'));
  const partsOf = (path: string) => path.split(/\/?[:*]\w+\/?/);
  expect(paths.filter((path) => !partsOf(path).every((part) => tests.includes(part)))).toEqual([]);
});
