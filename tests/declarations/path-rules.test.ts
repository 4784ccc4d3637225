import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { type DeclaredPath, ownersBy } from '../../libs/access/src/paths/path-rules.ts';
import { declaredEndpoints } from '../../scripts/console/describe-api.ts';
import { declaredRules } from './declared-paths.ts';

// After a change of paths, or of what they need: UPDATE_PATHS=1 npm test -- --no-rabbitmq tests/declarations/path
const file = new URL('../../libs/access/src/paths/path-rules.json', import.meta.url);
const update = 'write it again with UPDATE_PATHS=1 npm test -- --no-rabbitmq tests/declarations/path';

const declared = declaredRules(declaredEndpoints());
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
  const ownerOf = ownersBy(rules);
  const sent = declared.map(({ path, owner }) => [path.replace(/[+*]+/g, 'x'), owner]);
  expect(sent.map(([path = '']) => [path, ownerOf(path)])).toEqual(sent);
});
