import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { declaredEndpoints } from '../../scripts/console/describe-api.ts';
import { withDeclaredPaths } from './capabilities-table.ts';
import { publicEndpoints } from './declared-paths.ts';

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
      const names = [...paths.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/<\w+>/g, '<>'));
      return methods.split(', ').flatMap((method) => names.map((name) => `${method} ${name}`));
    }),
);

test('every endpoint has a row in a table of its topic, with its method and path', () => {
  const requests = endpoints.map(
    ({ method, path }) => `${method.toUpperCase()} ${path.slice(1).replace(/[:*]\w+/g, '<>')}`,
  );
  const ofType = /(sys\/sync\/destinations)\/[^</]+\/<>$/; // all types have one row
  const missing = requests.filter((request) => !documented.has(request.replace(ofType, '$1/<>/<>')));
  expect(missing).toEqual([]);
});
