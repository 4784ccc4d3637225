import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';
import { type NewToken, newTokenColumns, newTokenParams, newTokenValues } from './new-tokens.ts';

/** The identity that a login proved. */
export interface LoginIdentity {
  mountId: string;
  /** The mount's name for the entity. */
  alias: string;
  /** The mount's names of all groups that the identity belongs to. They replace those of the previous login. */
  groups: readonly string[];
  /** What the login method needs to decide about a renewal of the token. */
  source: Json;
}

/** What a login knows of its entity. */
export interface LoginOwner {
  entityId: string;
  /** Of the entity and of the groups that it belongs to. */
  identityPolicies: string[];
}

interface Parameters {
  mountId: string;
  alias: string;
  namespaceId: string;
  groups: string;
}

// Each statement locks the mount as a foreign key would: after it was disabled, nothing is added to it.
const knownOwner = ({ mountId, alias, groups }: Parameters) => `known as (
    select a.entity_id, a.groups from login.auth_mounts m
    join login.entity_aliases a on a.mount_id = m.id and a.name = ${alias}
    join login.entities e on e.id = a.entity_id and not e.disabled
    where m.id = ${mountId} for key share of m
  ), regrouped as (
    update login.entity_aliases a set groups = ${groups} from known k
    where a.mount_id = ${mountId} and a.name = ${alias} and k.groups <> ${groups} returning k.groups as former
  ), moved as (
    -- Other tokens of the entity may be in a cache. Most changes concern groups that have no alias here.
    update login.access_epoch set value = value + 1 where exists (
      select 1 from regrouped r join login.group_aliases ga
        on ga.mount_id = ${mountId} and ga.name = any(r.former || ${groups})
      where (ga.name = any(r.former)) <> (ga.name = any(${groups})))
  )`;

const newOwner = ({ mountId, alias, namespaceId, groups }: Parameters) => `mount as (
    select id from login.auth_mounts where id = ${mountId} for key share
  ), alias as (
    insert into login.entity_aliases (mount_id, name, entity_id, groups)
    select id, ${alias}, gen_random_uuid(), ${groups} from mount
    on conflict (mount_id, name) do nothing
    returning entity_id
  ), entity as (
    insert into login.entities (id, namespace_id) select entity_id, ${namespaceId} from alias
  )`;

/** The policies of the groups of a login, and those of its entity, which a new one does not have. */
const policiesOf = ({ mountId, groups }: Parameters, entityId: string) => `array(
    select unnest(e.policies) from login.entities e where e.id = ${entityId}
    union
    select unnest(g.policies) from login.group_aliases ga join login.groups g on g.id = ga.group_id
    where ga.mount_id = ${mountId} and ga.name = any(${groups})
    order by 1
  ) as "identityPolicies"`;

const ofToken = { namespaceId: '$4::text', mountId: '$17::uuid', alias: '$18::text', groups: '$20::text[]' };
const loginColumns = `${newTokenColumns}, mount_id, login_source, entity_id`;
const insertToken = (owner: string) => `
  insert into login.tokens as t (${loginColumns})
  select ${newTokenValues}, $17::uuid, $19::jsonb, o.entity_id from ${owner} o
  returning entity_id as "entityId", ${policiesOf(ofToken, 't.entity_id')}`;
const insertKnownText = `with ${knownOwner(ofToken)} ${insertToken('known')}`;
const insertNewText = `with ${newOwner(ofToken)} ${insertToken('alias')}`;

/**
 * Stores the token of a login. Takes one statement if the alias is known; otherwise a second one creates entity, alias and token.
 * Undefined if the mount was disabled, or the entity is.
 */
export async function insertLoginToken(
  sql: Sql,
  token: Omit<NewToken, 'entityId'>,
  { mountId, alias, groups, source }: LoginIdentity,
): Promise<LoginOwner | undefined> {
  const params = [...newTokenParams(token), mountId, alias, JSON.stringify(source), eachOnce(groups)];
  return firstOwner(sql, [insertKnownText, insertNewText, insertKnownText], params);
}

const ofEntity = { mountId: '$1::uuid', alias: '$2::text', groups: '$3::text[]', namespaceId: '$4::text' };
const selectOwner = (owner: string) => `
  select o.entity_id as "entityId", ${policiesOf(ofEntity, 'o.entity_id')} from ${owner} o`;
// The first one does not need the namespace, but has as many parameters.
const knownOwnerText = `with ${knownOwner(ofEntity)} ${selectOwner('known')} where $4::text is not null`;
const newOwnerText = `with ${newOwner(ofEntity)} ${selectOwner('alias')}`;

/** Returns the owner of a batch token, which is not stored. Creates the entity if it is new. Undefined in the same cases. */
export async function upsertOwner(
  sql: Sql,
  { mountId, alias, groups }: Omit<LoginIdentity, 'source'>,
  namespaceId: string,
): Promise<LoginOwner | undefined> {
  const params = [mountId, alias, eachOnce(groups), namespaceId];
  return firstOwner(sql, [knownOwnerText, newOwnerText, knownOwnerText], params);
}

/** Whether the entity of an alias is disabled. */
export async function isDisabled(
  sql: Sql,
  { mountId, alias }: Pick<LoginIdentity, 'mountId' | 'alias'>,
): Promise<boolean> {
  const rows = await sql.query(
    `select 1 from login.entity_aliases a join login.entities e on e.id = a.entity_id
     where a.mount_id = $1 and a.name = $2 and e.disabled`,
    [mountId, alias],
  );
  return rows.length > 0;
}

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
