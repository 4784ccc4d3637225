import type { Sql } from '@secrets/db';
import { errorCode, permissionDenied } from '@secrets/domain';
import type { LoginSource } from '../cloudb/login-source.ts';
import { type NewToken, newTokenColumns, newTokenParams, newTokenValues } from './tokens.ts';

const foreignKeyViolation = '23503';

/** Whom a login is of. */
export interface LoginOwner {
  mountId: string;
  /** The name that the mount knows the entity by. */
  alias: string;
  source: LoginSource;
}

const aliasAndEntity = `
  with alias as (
    insert into login.entity_aliases (mount_id, name, entity_id)
    values ($17::uuid, $18::text, gen_random_uuid())
    on conflict (mount_id, name) do nothing
    returning entity_id
  ), entity as (
    insert into login.entities (id, namespace_id) select entity_id, $4::text from alias
  ), owner as (
    select entity_id from alias
    union all
    select entity_id from login.entity_aliases where mount_id = $17::uuid and name = $18::text
    limit 1
  )`;

const loginColumns = `${newTokenColumns}, mount_id, login_source, entity_id`;

const insertKnownText = `
  insert into login.tokens (${loginColumns})
  select ${newTokenValues}, $17::uuid, $19::jsonb, a.entity_id
  from login.entity_aliases a where a.mount_id = $17::uuid and a.name = $18::text
  returning entity_id`;

const insertNewText = `${aliasAndEntity}
  insert into login.tokens (${loginColumns})
  select ${newTokenValues}, $17::uuid, $19::jsonb, owner.entity_id from owner
  returning entity_id`;

/**
 * Stores the token of a login and gives the entity's id: one statement for an alias that is known, and another one,
 * which makes entity and alias, for one that is new.
 */
export async function insertLoginToken(sql: Sql, token: NewToken, owner: LoginOwner): Promise<string> {
  const params = [...newTokenParams(token), owner.mountId, owner.alias, JSON.stringify(owner.source)];
  return firstEntity(sql, [insertKnownText, insertNewText, insertKnownText], params);
}

const knownOwnerText =
  'select entity_id from login.entity_aliases where mount_id = $1::uuid and name = $2::text';

const newOwnerText = `${aliasAndEntity.replaceAll('$17', '$1').replaceAll('$18', '$2').replaceAll('$4', '$3')}
  select entity_id from owner`;

/** The entity of an alias, made when it is new; for tokens that are stored nowhere. */
export async function entityOfAlias(
  sql: Sql,
  mountId: string,
  alias: string,
  namespaceId: string,
): Promise<string> {
  const [known] = await sql.query<{ entity_id: string }>(knownOwnerText, [mountId, alias]);
  if (known !== undefined) return known.entity_id;
  return firstEntity(sql, [newOwnerText, newOwnerText], [mountId, alias, namespaceId]);
}

/**
 * Asks until a statement finds the alias. Of two first logins of one identity at once, the later sees neither its own
 * insert nor the other's, and has to look once more.
 */
async function firstEntity(sql: Sql, texts: readonly string[], params: readonly unknown[]): Promise<string> {
  for (const text of texts) {
    const [row] = await insertOnMount(() => sql.query<{ entity_id: string }>(text, params));
    if (row !== undefined) return row.entity_id;
  }
  throw new Error('an entity alias appeared and disappeared during a login');
}

async function insertOnMount<Row>(insert: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await insert();
  } catch (error) {
    if (errorCode(error) === foreignKeyViolation) throw permissionDenied(); // the mount was disabled meanwhile
    throw error;
  }
}
