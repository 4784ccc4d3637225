import { expect, test } from '@jest/globals';
import { seconds } from '../../../libs/domain/src/fields/lenient-fields.ts';
import type { SettingField } from '../../../libs/domain/src/fields/stored-settings.ts';
import { otherNamesIn } from '../../../libs/http/src/index.ts';
import {
  ConfigBody,
  configFields,
} from '../../../services/login/src/auth-methods/cloudb/config/config-settings.ts';
import { RoleBody, roleFields } from '../../../services/login/src/auth-methods/cloudb/roles/role-settings.ts';
import { jwtConfigFields } from '../../../services/login/src/auth-methods/jwt/config/config-settings.ts';
import {
  JwtRoleBody,
  jwtRoleFields,
} from '../../../services/login/src/auth-methods/jwt/roles/role-fields.ts';
import { kubernetesConfigFields } from '../../../services/login/src/auth-methods/kubernetes/config/config-settings.ts';
import {
  KubernetesRoleBody,
  kubernetesRoleFields,
} from '../../../services/login/src/auth-methods/kubernetes/roles/role-fields.ts';
import { TokenRoleBody, tokenRoleFields } from '../../../services/login/src/tokens/roles/role-settings.ts';
import { recorded, update, withNames, withRows } from './field-tables.ts';

type Declared = readonly (readonly [string, SettingField])[];
const declared = ({ fields }: { fields: object }): Declared => Object.entries(fields);

/** The rows of fields, with their defaults. */
const rowsOf = (fields: Declared) =>
  fields.map(([name, { help = '', default: byDefault = '' }]) => {
    const isStated = typeof byDefault !== 'object' && byDefault !== '' && byDefault !== 0;
    return { name, created: `| \`${name}\`${isStated ? ` (${byDefault})` : ''} | ${help} |` };
  });

/** The others are those of every role. */
const isOwn = ([name]: Declared[number]): boolean => !name.startsWith('token_');
const ownFields = declared(jwtRoleFields).filter(isOwn);
const ownOfKubernetes = declared(kubernetesRoleFields).filter(isOwn);

const tokenRoleRow = /(?<=^\| POST \| `auth\/token\/roles\/<name>` \| ).*?(?= \|)/m;
const page = recorded('docs/api/access.md', (text) => {
  const withConfig = withRows(text, 'Fields of a configuration', rowsOf(declared(configFields)));
  const withRole = withRows(withConfig, 'Fields of a role.', rowsOf(declared(roleFields)));
  const withJwt = withRows(withRole, 'Settings of `jwt`', rowsOf(declared(jwtConfigFields)));
  const withJwtRole = withRows(withJwt, 'Fields of its roles', rowsOf(ownFields));
  const withCluster = withRows(
    withJwtRole,
    'Settings of `kubernetes`',
    rowsOf(declared(kubernetesConfigFields)),
  );
  const all = withRows(withCluster, 'Fields of roles of `kubernetes`', rowsOf(ownOfKubernetes));
  return all.replace(tokenRoleRow, tokenRoleFields.names.map((name) => `\`${name}\``).join(', '));
});

/** The fields that the example which moves from Vault copies: those that both have. */
const shared = declared(roleFields)
  .filter(([, { ownExtension }]) => ownExtension !== true)
  .map(([name]) => name);
const tokenFields = shared.filter((name) => name.startsWith('token_'));
const tokenRoleOnly = declared(tokenRoleFields)
  .filter(([name, { ownExtension }]) => ownExtension !== true && !tokenFields.includes(name))
  .map(([name]) => name);
const withFields = (source: string): string =>
  [
    ['tokenSettings', tokenFields] as const,
    ['azureRoleSettings', shared.filter((name) => !tokenFields.includes(name))] as const,
    ['tokenRoleSettings', tokenRoleOnly] as const,
  ].reduce((text, [list, names]) => withNames(text, list, names), source);
const moving = recorded('docs/examples/move.mjs', withFields);

/** The rows of the table below a sentence. */
const tableText = (sentence: string): string[] =>
  page.split(sentence)[1]!.split('\n\n')[1]!.split('\n').slice(2);

/** The names in its first column, with what stands behind them in parentheses. */
const tableBelow = (sentence: string): [name: string, remark: string | undefined][] =>
  tableText(sentence)
    .flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`(\w+)`(?: \(([^)]+)\))?/g)])
    .map(([, name, remark]) => [name!, remark]);
const namesIn = (rows: [string, unknown][]) => rows.map(([name]) => name).sort();

test(`docs/api/access.md lists the fields of a configuration, with their defaults (${update})`, () => {
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

test(`docs/api/access.md lists the fields of a role (${update})`, () => {
  const others = Object.values(roleFields.otherNames);
  const rows = tableBelow('Fields of a role.').filter(([name]) => !others.includes(name));
  expect(namesIn(rows)).toEqual([...roleFields.names].sort());
});

test(`docs/api/access.md lists the fields of jwt (${update})`, () => {
  expect(namesIn(tableBelow('Settings of `jwt`'))).toEqual(Object.keys(jwtConfigFields.fields).sort());
  expect(namesIn(tableBelow('Fields of its roles'))).toEqual(ownFields.map(([name]) => name).sort());
});

test(`docs/api/access.md lists the fields of kubernetes (${update})`, () => {
  const declaredNames = Object.keys(kubernetesConfigFields.fields);
  expect(namesIn(tableBelow('Settings of `kubernetes`'))).toEqual(declaredNames.sort());
  expect(namesIn(tableBelow('Fields of roles of `kubernetes`'))).toEqual(
    ownOfKubernetes.map(([name]) => name).sort(),
  );
});

test('docs/api/access.md says what each field is for, so one that has no row yet declares its help', () => {
  for (const sentence of [
    'Fields of a configuration',
    'Fields of a role.',
    'Settings of `jwt`',
    'Fields of its roles',
    'Settings of `kubernetes`',
    'Fields of roles of `kubernetes`',
  ])
    expect(tableText(sentence).filter((row) => / \|\s*\|$/.test(row))).toEqual([]);
});

test(`docs/api/access.md lists the fields of a token role (${update})`, () => {
  const fields = tokenRoleRow.exec(page)![0];
  expect([...fields.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(tokenRoleFields.names);
});

test(`the example that moves from another server copies every field that both have (${update})`, () => {
  expect(moving).toBe(withFields(moving));
});

test('requests may send each field by the other name that it declares', () => {
  for (const [body, { otherNames }] of [
    [RoleBody, roleFields],
    [TokenRoleBody, tokenRoleFields],
    [ConfigBody, configFields],
    [JwtRoleBody, jwtRoleFields],
    [KubernetesRoleBody, kubernetesRoleFields],
  ] as const)
    expect(otherNamesIn(body)).toEqual(otherNames);
});
