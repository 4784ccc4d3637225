import { areWithinLimitSql, isEvaluableSql, policySizeSql } from '@secrets/access';
import type { Sql } from '@secrets/db';
import {
  areGroupsKnown,
  areOutdated,
  countingGroups,
  noneIsDisabled,
  notAhead,
  policiesOf,
} from './login-owner-sql.ts';
import { groupParams, type LoginIdentity, type LoginOwner } from './login-tokens.ts';
import { newTokenColumns, newTokenRecord, newTokenRecordColumns, type UnownedToken } from './new-tokens.ts';

/** A token of a login that is to be stored. */
export interface LoginToken {
  token: UnownedToken;
  identity: LoginIdentity;
}

const ofLogin = {
  mountId: 'l.mount_id',
  alias: 'lower(l.alias)',
  groups: 'l.groups',
  issuedAt: notAhead('l.issued_at'),
};

// Mounts are locked as by `insertLoginToken`, but without waiting: a mount that is being disabled holds up no login
// with another one. The LIMIT keeps the lookups of each login together, by index: a join of all logins with a table
// that was small could read all of it later.
const insertText = `with logins as (
    select * from jsonb_to_recordset($1::jsonb) as l(
      at integer, ${newTokenRecordColumns},
      mount_id uuid, login_source jsonb, alias text, groups text[], issued_at timestamptz)
  ), mounts as (
    select id from login.auth_mounts where id = any(array(select mount_id from logins)) for key share skip locked
  ), sized as (
    select l.*, known.entity_id, owner."identityPolicies", size.paths, size."plusPaths"
    from logins l
    cross join lateral (
      select a.entity_id, ${countingGroups(ofLogin)} as groups
      from login.entity_aliases a join login.entities e on e.id = a.entity_id and not e.disabled
      where a.mount_id = ${ofLogin.mountId} and a.name = ${ofLogin.alias}
        and ${areGroupsKnown(ofLogin)} and not coalesce(${areOutdated(ofLogin)}, false)
        and ${noneIsDisabled(ofLogin)}
      limit 1
    ) known
    cross join lateral (select ${policiesOf(ofLogin, 'known')} as "identityPolicies") owner
    cross join lateral ${policySizeSql('l.namespace_id', '(l.policies || owner."identityPolicies")')} size
    where l.mount_id in (select id from mounts)
  ), stored as (
    insert into login.tokens (${newTokenColumns}, mount_id, login_source, entity_id)
    select ${newTokenColumns}, mount_id, login_source, entity_id from sized
    where ${areWithinLimitSql('"identityPolicies"')} and ${isEvaluableSql('sized')}
  ) select at, entity_id as "entityId", "identityPolicies", paths, "plusPaths" from sized`;

/**
 * Stores the tokens of several logins in one statement, those that need nothing else: the identity is known, its groups
 * are as they were at its last login, and its mount is not locked. The others are undefined: nothing was stored for
 * them, and `insertLoginToken` decides. Otherwise, the results are the same.
 */
export async function insertLoginTokens(
  sql: Sql,
  logins: readonly LoginToken[],
): Promise<(LoginOwner | undefined)[]> {
  const rows = await sql.query<LoginOwner & { at: number }>(insertText, [
    JSON.stringify(logins.map(recordOf)),
  ]);
  const owners: (LoginOwner | undefined)[] = logins.map(() => undefined);
  for (const { at, ...owner } of rows) owners[at] = owner;
  return owners;
}

function recordOf({ token, identity }: LoginToken, at: number): Record<string, unknown> {
  const { mountId: mount_id, source: login_source, alias } = identity;
  const [groups, issued_at] = groupParams(identity);
  return { at, ...newTokenRecord(token), mount_id, login_source, alias, groups, issued_at };
}
