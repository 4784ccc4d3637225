import {
  areWithinLimitSql,
  changeTag,
  isEvaluableSql,
  type PolicySize,
  policySizeSql,
} from '@secrets/access';
import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';
import {
  areGroupsKnown,
  areOutdated,
  countingGroups,
  hasNoGroups,
  noneIsDisabled,
  notAhead,
  type Parameters,
  policiesOf,
  wereNamed,
} from './login-owner-sql.ts';
import {
  type NewToken,
  newTokenColumns,
  newTokenParams,
  newTokenValues,
  type UnownedToken,
} from './new-tokens.ts';
import { recordedChangeSql } from './revocations.ts';

/** The identity that a login proved. */
export interface LoginIdentity {
  mountId: string;
  /** The mount's name for the entity. */
  alias: string;
  /** The mount's names of all groups that the identity belongs to; undefined if the login does not say. */
  groups: readonly string[] | undefined;
  /** When that was so, in seconds since 1970. Groups of a later time are not replaced. Undefined counts as the earliest time. */
  issuedAt: number | undefined;
  /** What the login method needs to decide about a renewal of the token. */
  source: Json;
}

/** The entity of a login, and the size of the policies of its token, those of the entity included. */
export interface LoginOwner extends PolicySize {
  entityId: string;
  /** Of the entity and of the groups that it belongs to. */
  identityPolicies: string[];
}

const quotedEntityConcern = `'${changeTag.entity('')}'`;

// Each statement locks the mount as a foreign key would: after it was disabled, nothing is added to it. None finds an
// owner whose groups are not known although the mount has some: one of these may deny something.
const knownOwner = ({ mountId, alias, groups, issuedAt }: Parameters) => `known as (
    select a.entity_id, ${countingGroups({ groups, issuedAt })} as groups
    from login.auth_mounts m
    join login.entity_aliases a on a.mount_id = m.id and a.name = ${alias}
    join login.entities e on e.id = a.entity_id and not e.disabled
    where m.id = ${mountId}
      and ${areGroupsKnown({ groups, mountId })} and ${noneIsDisabled({ mountId, alias })}
    for key share of m
  ), outdated as (
    -- Locked, so that \`former\` is what a concurrent login has just written.
    select a.mount_id, a.name, a.groups as former from login.entity_aliases a
    where a.mount_id = ${mountId} and a.name = ${alias} and (select true from known)
      and ${areOutdated({ groups, issuedAt })}
    for no key update
  ), regrouped as (
    update login.entity_aliases a set groups = ${groups}, groups_issued_at = ${issuedAt} from outdated o
    where a.mount_id = o.mount_id and a.name = o.name returning o.former
  -- Other tokens of the entity may be in a cache. Most changes concern groups that have no alias here.
  ), ${recordedChangeSql(
    `array(select ${quotedEntityConcern} || entity_id::text from known)`,
    `exists (
      select 1 from regrouped r join login.group_aliases ga
        on ga.mount_id = ${mountId} and ga.name = any(r.former || ${groups})
      where (ga.name = any(r.former)) <> (ga.name = any(${groups})))`,
  )}, ${ownerOf({ mountId, alias }, 'known')}`;

const newOwner = ({ mountId, alias, namespaceId, groups, issuedAt }: Parameters) => `mount as (
    select id from login.auth_mounts where id = ${mountId} and (${groups} is not null or ${hasNoGroups(mountId)})
      and ${noneIsDisabled({ mountId, alias })} for key share
  ), alias as (
    insert into login.entity_aliases (mount_id, name, entity_id, groups, groups_issued_at)
    select id, ${alias}, gen_random_uuid(), coalesce(${groups}, '{}'), case when ${groups} is not null then ${issuedAt} end from mount
    on conflict (mount_id, name) do nothing
    returning entity_id, groups
  ), entity as (
    insert into login.entities (id, namespace_id) select entity_id, ${namespaceId} from alias
  ), ${ownerOf({ mountId, alias }, 'alias')}`;

/** The owner, with the policies of its groups and those of the entity, which a new one does not have. */
const ownerOf = (of: Pick<Parameters, 'mountId' | 'alias'>, found: string) => `owner as (
    select f.entity_id as "entityId", ${policiesOf(of, 'f')} as "identityPolicies" from ${found} f
  )`;

const sizedOwner = ({ namespaceId, policies }: Pick<Parameters, 'namespaceId' | 'policies'>) => `sized as (
    select o.*, size.* from owner o cross join lateral ${policySizeSql(namespaceId, `(${policies} || o."identityPolicies")`)} size
  )`;

const selectOwner = 'select "entityId", "identityPolicies", paths, "plusPaths" from sized';

const ofToken = {
  namespaceId: '$4::text',
  mountId: '$19::uuid',
  alias: 'lower($20::text)',
  groups: '$22::text[]',
  issuedAt: notAhead('$23::timestamptz'),
  policies: '$7::text[]',
};
const loginColumns = `${newTokenColumns}, mount_id, login_source, entity_id`;
const insertToken = `${sizedOwner(ofToken)}, stored as (
    insert into login.tokens (${loginColumns})
    select ${newTokenValues}, $19::uuid, $21::jsonb, "entityId" from sized
    where ${areWithinLimitSql('"identityPolicies"')} and ${isEvaluableSql('sized')}
  ) ${selectOwner}`;
const insertKnownText = `with ${knownOwner(ofToken)}, ${insertToken}`;
const insertNewText = `with ${newOwner(ofToken)}, ${insertToken}`;

/**
 * Stores the token of a login, unless its policies and those of its identity are more than can be evaluated. Takes one
 * statement if the alias is known; otherwise a second one creates entity, alias and token. Undefined if the mount was
 * disabled, the entity is disabled, or its groups are not known.
 */
export async function insertLoginToken(
  sql: Sql,
  token: UnownedToken,
  { mountId, alias, source, ...proof }: LoginIdentity,
): Promise<LoginOwner | undefined> {
  const params = [...newTokenParams(token), mountId, alias, JSON.stringify(source), ...groupParams(proof)];
  return firstOwner(sql, [insertKnownText, insertNewText, insertKnownText], params);
}

const ofEntity = {
  mountId: '$1::uuid',
  alias: 'lower($2::text)',
  groups: '$3::text[]',
  issuedAt: notAhead('$4::timestamptz'),
  namespaceId: '$5::text',
  policies: '$6::text[]',
};
const knownOwnerText = `with ${knownOwner(ofEntity)}, ${sizedOwner(ofEntity)} ${selectOwner}`;
const newOwnerText = `with ${newOwner(ofEntity)}, ${sizedOwner(ofEntity)} ${selectOwner}`;

/** Returns the owner of a batch token, which is not stored. Creates the entity if it is new. Undefined in the same cases. */
export async function upsertOwner(
  sql: Sql,
  { mountId, alias, ...proof }: Omit<LoginIdentity, 'source'>,
  { namespaceId, policies }: Pick<NewToken, 'namespaceId' | 'policies'>,
): Promise<LoginOwner | undefined> {
  const params = [mountId, alias, ...groupParams(proof), namespaceId, policies];
  return firstOwner(sql, [knownOwnerText, newOwnerText, knownOwnerText], params);
}

/** The state that decides whether an identity can have tokens of a login. */
export interface OwnerState {
  isDisabled: boolean;
  /** Whether this login or an earlier one names the groups, or the mount has none. */
  areGroupsKnown: boolean;
  /** Of the entity and of the groups that it belongs to; of the groups alone, if there is no entity yet. */
  identityPolicies: string[];
}

const ownerStateText = `with known as (
    select a.entity_id, e.disabled, ${wereNamed} as named, ${countingGroups(ofEntity)} as groups
    from login.entity_aliases a join login.entities e on e.id = a.entity_id
    where a.mount_id = ${ofEntity.mountId} and a.name = ${ofEntity.alias}
  ), found as (
    select entity_id, groups from known
    union all
    select null, coalesce(${ofEntity.groups}, '{}') where not exists (select from known)
  ), ${ownerOf(ofEntity, 'found')}
  select "identityPolicies", coalesce((select disabled from known), false) or not ${noneIsDisabled(ofEntity)} as "isDisabled",
    ${ofEntity.groups} is not null or coalesce((select named from known), false) or ${hasNoGroups(ofEntity.mountId)} as "areGroupsKnown"
  from owner`;

/** Reads what decides about the tokens of an identity. Changes nothing. */
export async function findOwnerState(
  sql: Sql,
  { mountId, alias, ...proof }: Omit<LoginIdentity, 'source'>,
): Promise<OwnerState> {
  const [row] = await sql.query<OwnerState>(ownerStateText, [mountId, alias, ...groupParams(proof)]);
  return row!;
}

/** Whatever a token says, it has to be a time. */
const latest = Date.UTC(9999, 11, 31);

export const groupParams = ({
  groups,
  issuedAt = 0,
}: Pick<LoginIdentity, 'groups' | 'issuedAt'>): [string[] | null, Date] => [
  groups === undefined ? null : eachOnce(groups),
  new Date(Math.max(0, Math.min(issuedAt * 1_000, latest))),
];

const eachOnce = (names: readonly string[]): string[] =>
  [...new Set(names.map((name) => name.toLowerCase()))].sort();

/**
 * Runs statements until one finds the alias. If one identity logs in for the first time twice at once, the later login
 * sees neither its own insert nor the other's, and has to look again.
 */
async function firstOwner(
  sql: Sql,
  texts: readonly string[],
  params: readonly unknown[],
): Promise<LoginOwner | undefined> {
  for (const text of texts) {
    const [owner] = await sql.query<LoginOwner>(text, params);
    if (owner !== undefined) return owner;
  }
  return undefined;
}
