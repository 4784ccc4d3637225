import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { seconds } from '../../libs/domain/src/fields/lenient-fields.ts';
import { otherNamesIn } from '../../libs/http/src/index.ts';
import {
  ConfigBody,
  configFields,
} from '../../services/login/src/auth-methods/cloudb/config/config-settings.ts';
import { RoleBody, roleFields } from '../../services/login/src/auth-methods/cloudb/roles/role-settings.ts';
import { TokenRoleBody, tokenRoleFields } from '../../services/login/src/tokens/roles/role-settings.ts';

const page = readFileSync('docs/api/access.md', 'utf8');
const moving = readFileSync('docs/examples/move.mjs', 'utf8');

/** The names in the first column of the table below a sentence, with what stands behind them in parentheses. */
const tableBelow = (sentence: string): [name: string, remark: string | undefined][] =>
  page
    .split(sentence)[1]!
    .split('\n\n')[1]!
    .split('\n')
    .slice(2)
    .flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`(\w+)`(?: \(([^)]+)\))?/g)])
    .map(([, name, remark]) => [name!, remark]);
const namesIn = (rows: [string, unknown][]) => rows.map(([name]) => name).sort();

test('docs/api/access.md lists the fields of a configuration, with their defaults', () => {
  const rows = tableBelow('Fields of a configuration');
  expect(namesIn(rows)).toEqual(Object.keys(ConfigBody.shape).sort());
  const meanings = rows.flatMap(([name, remark]) =>
    remark === undefined ? [] : [[name, meaningOf(remark)]],
  );
  const told = Object.entries(configFields.defaults).filter(([, value]) => value !== '' && value !== 0);
  expect(Object.fromEntries(meanings)).toMatchObject(Object.fromEntries(told));
});

const meaningOf = (remark: string): unknown => {
  const text = remark.replaceAll('`', '');
  return text === 'false' ? false : (seconds.safeParse(text).data ?? text);
};

test('docs/api/access.md lists the fields of a role', () => {
  const others = Object.values(roleFields.otherNames);
  const rows = tableBelow('Fields of a role.').filter(([name]) => !others.includes(name));
  expect(namesIn(rows)).toEqual([...roleFields.names].sort());
});

test('docs/api/access.md lists the fields of a token role', () => {
  const [, , fields] = /^\| POST \| `auth\/token\/roles\/<name>` \|.*$/m.exec(page)![0].split(' | ');
  expect([...fields!.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort()).toEqual(
    [...tokenRoleFields.names].sort(),
  );
});

test('the example that moves from another server copies every field that both have', () => {
  const onlyHere = ['max_token_age'];
  const fields = [...roleFields.names, ...tokenRoleFields.names];
  expect(fields.filter((name) => !onlyHere.includes(name) && !moving.includes(`'${name}'`))).toEqual([]);
});

test('requests may send each field by the other name that it declares', () => {
  for (const [body, { otherNames }] of [
    [RoleBody, roleFields],
    [TokenRoleBody, tokenRoleFields],
    [ConfigBody, configFields],
  ] as const)
    expect(otherNamesIn(body)).toEqual(otherNames);
});
