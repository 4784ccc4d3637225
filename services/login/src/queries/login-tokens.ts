import type { Sql } from '@secrets/db';
import type { Json } from '@secrets/domain';
import { type NewToken, newTokenColumns, newTokenParams, newTokenValues } from './new-tokens.ts';

/** The identity that a login proved. */
export interface LoginIdentity {
  mountId: string;
  /** The mount's name for the entity. */
  alias: string;
  /** What the login method needs to decide about a renewal of the token. */
  source: Json;
}

// Each statement locks the mount as a foreign key would: after it was disabled, nothing is added to it.
const aliasAndEntity = `
  with mount as (
    select id from login.auth_mounts where id = $17::uuid for key share
  ), alias as (
    insert into login.entity_aliases (mount_id, name, entity_id)
    select id, $18::text, gen_random_uuid() from mount
    on conflict (mount_id, name) do nothing
    returning entity_id
  ), entity as (
    insert into login.entities (id, namespace_id) select entity_id, $4::text from alias
  ), owner as (
    select entity_id from alias
    union all
    select a.entity_id from mount m join login.entity_aliases a on a.mount_id = m.id and a.name = $18::text
    limit 1
  )`;

const loginColumns = `${newTokenColumns}, mount_id, login_source, entity_id`;

const insertKnownText = `
  insert into login.tokens (${loginColumns})
  select ${newTokenValues}, $17::uuid, $19::jsonb, a.entity_id
  from login.auth_mounts m join login.entity_aliases a on a.mount_id = m.id
  where m.id = $17::uuid and a.name = $18::text for key share of m
  returning entity_id`;

const insertNewText = `${aliasAndEntity}
  insert into login.tokens (${loginColumns})
  select ${newTokenValues}, $17::uuid, $19::jsonb, owner.entity_id from owner
  returning entity_id`;

/**
 * Stores the token of a login and returns the ID of its entity; undefined if the mount was disabled. Takes one statement if the alias is known; otherwise a
 * second one creates entity, alias and token.
 */
export async function insertLoginToken(
  sql: Sql,
  token: Omit<NewToken, 'entityId'>,
  { mountId, alias, source }: LoginIdentity,
): Promise<string | undefined> {
  const params = [...newTokenParams(token), mountId, alias, JSON.stringify(source)];
  return firstEntity(sql, [insertKnownText, insertNewText, insertKnownText], params);
}

const knownOwnerText =
  'select entity_id from login.entity_aliases where mount_id = $1::uuid and name = $2::text';

const newOwnerText = `${aliasAndEntity.replaceAll('$17', '$1').replaceAll('$18', '$2').replaceAll('$4', '$3')}
  select entity_id from owner`;

/** Returns the ID of the entity of an alias, which is created if it is new: for batch tokens, which are not stored. Undefined if the mount was disabled. */
export async function upsertEntity(
  sql: Sql,
  { mountId, alias }: Pick<LoginIdentity, 'mountId' | 'alias'>,
  namespaceId: string,
): Promise<string | undefined> {
  const [known] = await sql.query<{ entity_id: string }>(knownOwnerText, [mountId, alias]);
  if (known !== undefined) return known.entity_id;
  return firstEntity(sql, [newOwnerText, newOwnerText], [mountId, alias, namespaceId]);
}

/**
 * Runs statements until one finds the alias. If one identity logs in for the first time twice at once, the later login
 * sees neither its own insert nor the other's, and has to look again.
 */
async function firstEntity(
  sql: Sql,
  texts: readonly string[],
  params: readonly unknown[],
): Promise<string | undefined> {
  for (const text of texts) {
    const [row] = await sql.query<{ entity_id: string }>(text, params);
    if (row !== undefined) return row.entity_id;
  }
  return undefined;
}
