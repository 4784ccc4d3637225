import type { Namespace } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { type Epoch, epochSql } from './changes/epoch.ts';
import { isEvaluableSql, type PolicySize, policySizeSql } from './policies/rules/policy-size.ts';
import { boundTokenColumns } from './rows/token-row.ts';
import type { BatchTokenState, ServiceTokenRow } from './tokens/access-token.ts';
import { ancestorsSql, ownExpirySql } from './tokens/ancestor-expiry.ts';
import { identityPoliciesSql } from './tokens/identity-policies.ts';
import type { BatchToken } from './tokens/token.ts';

// The epoch comes from the same statement, and thus the same snapshot, as the row: a row never includes anything that
// was revoked before its epoch.

/** A row, undefined if there is none, and the epoch at which it was read. */
export interface AtEpoch<Row> {
  epoch: Epoch;
  row: Row | undefined;
}

const serviceToken = `
  select ${epochSql('e')} as epoch, ${boundTokenColumns.map((column) => `t.${column}`).join(', ')}, t.row_hash,
    n.path as namespace_path, least(${ownExpirySql('t')}, above.expires_at) as expires_at, t.entity_id, t.uses_left,
    ${identityPoliciesSql('t.entity_id', 't.namespace_id')} as identity_policies,
    above.accessors as ancestors, above.mounts as ancestor_mounts
  from login.access_epoch e
  left join login.tokens t on t.hash = $1
  left join login.namespaces n on n.id = t.namespace_id
  cross join lateral ${ancestorsSql('t.parent_accessor')} above`;

export async function readServiceToken(sql: Sql, hash: Uint8Array): Promise<AtEpoch<ServiceTokenRow>> {
  const [row] = await sql.query<ServiceTokenRow & { epoch: Epoch; namespace_path: string | null }>(
    serviceToken,
    [hash],
  );
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return { epoch: row.epoch, row: row.namespace_path === null ? undefined : row };
}

const batchToken = `
  select ${epochSql('e')} as epoch, n.path as namespace_path, $2::text is null or t.accessor is not null as parent_exists,
    least(${ownExpirySql('t')}, above.expires_at) as parent_expires_at,
    $3::uuid is null or m.id is not null as mount_exists,
    ${identityPoliciesSql('$4::uuid', '$1')} as identity_policies,
    t.mount_id as parent_mount, above.accessors as ancestors, above.mounts as ancestor_mounts
  from login.access_epoch e
  left join login.namespaces n on n.id = $1
  left join login.tokens t on t.accessor = $2
  left join login.auth_mounts m on m.id = $3::uuid
  cross join lateral ${ancestorsSql('t.parent_accessor')} above`;

export async function readBatchToken(sql: Sql, token: BatchToken): Promise<AtEpoch<BatchTokenState>> {
  const parameters = [token.namespace_id, token.parent_accessor, token.mount_id, token.entity_id];
  const [row] = await sql.query<BatchTokenState & { epoch: Epoch; namespace_path: string | null }>(
    batchToken,
    parameters,
  );
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return { epoch: row.epoch, row: row.namespace_path === null ? undefined : row };
}

const namespaceByPath = `
  select ${epochSql('e')} as epoch, n.id from login.access_epoch e left join login.namespaces n on n.path = $1`;

export async function readNamespace(sql: Sql, path: string): Promise<AtEpoch<Namespace>> {
  const [row] = await sql.query<{ epoch: Epoch; id: string | null }>(namespaceByPath, [path]);
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return { epoch: row.epoch, row: row.id === null ? undefined : { id: row.id, path } };
}

/** An auth mount, as far as a login depends on it before its method decides. */
export interface LoginMount {
  id: string;
  namespace: Namespace;
}

const loginMount = `
  select ${epochSql('e')} as epoch, m.id as mount_id, n.id as namespace_id from login.access_epoch e
  left join (login.namespaces n join login.auth_mounts m on m.namespace_id = n.id and m.path = $2) on n.path = $1`;

/** Reads the auth mount at the path `mount` in the namespace at a path. */
export async function readLoginMount(
  sql: Sql,
  namespace: string,
  mount: string,
): Promise<AtEpoch<LoginMount>> {
  const [row] = await sql.query<{ epoch: Epoch; mount_id: string | null; namespace_id: string }>(loginMount, [
    namespace,
    mount,
  ]);
  if (row === undefined) throw new Error('login.access_epoch is empty');
  const { epoch, mount_id: id, namespace_id } = row;
  return { epoch, row: id === null ? undefined : { id, namespace: { id: namespace_id, path: namespace } } };
}

/** Consumes one use of a token, or none. Returns false if none is left. */
export async function consumeUse(sql: Sql, hash: Uint8Array, uses: 0 | 1 = 1): Promise<boolean> {
  const rows = await sql.query<{ uses_left: number }>(
    'update login.tokens set uses_left = uses_left - $2 where hash = $1 and uses_left > 0 returning uses_left',
    [hash, uses],
  );
  return rows.length > 0;
}

const policySet = `
  select ${epochSql('e')} as epoch, size.paths, size."plusPaths", case when ${isEvaluableSql('size')} then (
    select coalesce(jsonb_agg(jsonb_build_object('name', p.name, 'rules', p.rules, 'hash', p.row_hash)), '[]')::text
    from login.policies p where p.namespace_id = $1 and p.name = any($3::text[])
  ) end as rules
  from login.access_epoch e cross join lateral ${policySizeSql('$1', '$2::text[]')} size`;

/**
 * Reads the policies with these names in one namespace as JSON, or null if they are too large together; names without a
 * policy are omitted.
 * @param known names of which only the size is read
 */
export async function readPolicySet(
  sql: Sql,
  namespaceId: string,
  names: readonly string[],
  known: { has(name: string): boolean } = new Set(),
): Promise<PolicySize & { epoch: Epoch; rules: string | null }> {
  const [row] = await sql.query<PolicySize & { epoch: Epoch; rules: string | null }>(policySet, [
    namespaceId,
    names,
    names.filter((name) => !known.has(name)),
  ]);
  if (row === undefined) throw new Error('login.access_epoch is empty');
  return row;
}
