import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { type DeclaredPath, ownerOf } from '../../libs/access/src/paths/path-rules.ts';
import { declaredEndpoints } from '../../scripts/console/describe-api.ts';
import { declaredRules, publicEndpoints } from './declared-paths.ts';

// After a change of paths, or of what they need: UPDATE_PATHS=1 npm test -- --no-rabbitmq tests/declarations/path-rules
const file = new URL('../../libs/access/src/paths/path-rules.json', import.meta.url);
const update = 'write it again with UPDATE_PATHS=1 npm test -- --no-rabbitmq tests/declarations/path-rules';

const services = declaredEndpoints();
const declared = declaredRules(services);
if (process.env.UPDATE_PATHS === '1')
  writeFileSync(file, `[\n${declared.map((rule) => `  ${JSON.stringify(rule)}`).join(',\n')}\n]\n`);
const rules = JSON.parse(readFileSync(file, 'utf8')) as DeclaredPath[];

/** Says in sentences how two tables differ. */
function differences(
  one: readonly DeclaredPath[],
  other: readonly DeclaredPath[],
  sentence: string,
): string[] {
  const known = new Map(other.map((rule) => [rule.path, JSON.stringify(rule)]));
  return one
    .filter((rule) => known.get(rule.path) !== JSON.stringify(rule))
    .map((rule) => `${rule.path} ${sentence}: ${JSON.stringify(rule)}`);
}

test('the gateway knows every path that a service declares, and what it needs', () => {
  const missing = `is declared by an endpoint, but not in path-rules.json like this; ${update}`;
  expect(differences(declared, rules, missing)).toEqual([]);
});

test('the gateway knows no path that no service declares', () => {
  const extra = `is in path-rules.json, but no endpoint declares it like this; ${update}`;
  expect(differences(rules, declared, extra)).toEqual([]);
});

test('every path reaches the service that declares it', () => {
  const sent = declared.map(({ path, owner }) => [path.replace(/[+*]+/g, 'x'), owner]);
  expect(sent.map(([path = '']) => [path, ownerOf(path)])).toEqual(sent);
});

const page = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');

/** The paths in the first cell of the rows whose second cell matches, with `<>` for each parameter. */
const documented = (capability: RegExp): string[] =>
  page
    .slice(page.indexOf('## Capabilities'), page.indexOf('## Health'))
    .split('\n')
    .map((row) => row.split(' | '))
    .filter(([, cell = '']) => capability.test(cell))
    .flatMap(([cell = '']) =>
      [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path.replace(/<\w+>/g, '<>')),
    )
    .sort();

const named = ({ path }: { path: string }): string => path.replace(/\+|\*\*/g, '<>');
const pathsWith = (has: (rule: DeclaredPath) => unknown): string[] => declared.filter(has).map(named).sort();

test('docs/api.md lists the paths that need sudo, those that need only a token, and those that need none', () => {
  expect(documented(/sudo/)).toEqual(pathsWith(({ needsSudo }) => needsSudo));
  expect(documented(/any valid token/)).toEqual(pathsWith(({ anyToken }) => anyToken));
  expect(documented(/no token needed/)).toEqual(pathsWith(({ open, isLogin }) => open ?? isLogin));
});

test('docs/api.md lists the requests that can create an object', () => {
  const creating = Object.values(services)
    .flatMap(publicEndpoints)
    .filter(({ method, needs }) => method === 'post' && needs === 'create or update')
    .map(({ path }) => path.slice(1).replace(/[:*]\w+/g, '<>'))
    .map((path) => path.replace(/^(sys\/sync\/destinations)\/[^<]+\//, '$1/<>/')); // of one type
  expect(documented(/^`create`/)).toEqual([...new Set(creating)].sort());
});

test('the pages of the API name every path', () => {
  const pages = ['.md', '/access.md', '/secrets.md', '/sync.md'].map((name) =>
    readFileSync(new URL(`../../docs/api${name}`, import.meta.url), 'utf8'),
  );
  const lines = pages.join('\n').split('\n');
  const names = lines.flatMap((line) =>
    [...line.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/<[^>]+>/g, '<>')),
  );
  const ofType = /^sys\/sync\/destinations\/[^<]+\/<>$/; // all types have one row
  expect(declared.map(named).filter((path) => !ofType.test(path) && !names.includes(path))).toEqual([]);
});
