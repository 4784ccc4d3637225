import type { Sql, Tx } from '@secrets/db';

/** A token role as it is stored (docs/conventions.md#216-token-roles). */
export interface TokenRoleSettings {
  allowed_policies: string[];
  disallowed_policies: string[];
  allowed_policies_glob: string[];
  disallowed_policies_glob: string[];
  orphan: boolean;
  renewable: boolean;
  /** Appended to the creation path of the tokens; may be empty. */
  path_suffix: string;
  token_bound_cidrs: string[];
  /** Seconds; 0 for none, as for the other numbers. */
  token_explicit_max_ttl: number;
  token_no_default_policy: boolean;
  token_num_uses: number;
  token_period: number;
  token_type: 'service' | 'batch' | 'default-service' | 'default-batch';
}

export async function findTokenRole(
  sql: Sql,
  namespaceId: string,
  name: string,
): Promise<TokenRoleSettings | undefined> {
  const text = 'select settings from login.token_roles where namespace_id = $1 and name = $2';
  return (await sql.query<{ settings: TokenRoleSettings }>(text, [namespaceId, name]))[0]?.settings;
}

/** Up to `limit` names after the given one, in the order of their bytes. */
export async function listTokenRoleNames(
  sql: Sql,
  namespaceId: string,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const text = `select name from login.token_roles where namespace_id = $1 and name > $2 order by name limit $3`;
  return (await sql.query<{ name: string }>(text, [namespaceId, after, limit])).map(({ name }) => name);
}

export async function upsertTokenRole(
  tx: Tx,
  namespaceId: string,
  name: string,
  settings: TokenRoleSettings,
): Promise<void> {
  await tx.query(
    `insert into login.token_roles (namespace_id, name, settings) values ($1, $2, $3::jsonb)
     on conflict (namespace_id, name) do update set settings = excluded.settings, updated_at = now()`,
    [namespaceId, name, JSON.stringify(settings)],
  );
}

export async function deleteTokenRole(sql: Sql, namespaceId: string, name: string): Promise<void> {
  await sql.query('delete from login.token_roles where namespace_id = $1 and name = $2', [namespaceId, name]);
}
