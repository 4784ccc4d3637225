import { type Caller, Namespace } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { z } from 'zod';
import { tokenExpirySql } from '../tokens/ancestor-expiry.ts';
import { areWithinLimit, identityPoliciesSql } from '../tokens/identity-policies.ts';

/** Who has requested something that is done later, with the rights that the identity has then (docs/adr/0052-rules.md). */
export const StoredIdentity = z.object({
  /** An entity, whose token does not matter; null for a token without an entity. */
  entityId: z.string().nullable(),
  /** The accessor of a token without an entity; null with an entity. */
  accessor: z.string().nullable(),
  /** The policies of a token without an entity; empty with an entity. */
  policies: z.array(z.string()),
  displayName: z.string(),
  namespace: Namespace,
  tokenNamespace: Namespace,
});
export type StoredIdentity = z.infer<typeof StoredIdentity>;

/** Returns what lasts of a caller; undefined for a batch token without an entity, which nothing identifies. */
export function storedIdentity(caller: Caller): StoredIdentity | undefined {
  const { entityId, accessor, displayName, namespace, tokenNamespace } = caller;
  const names = { displayName, namespace, tokenNamespace };
  if (entityId !== null) return { entityId, accessor: null, policies: [], ...names };
  if (accessor === null) return undefined;
  return { entityId: null, accessor, policies: [...caller.policies], ...names };
}

/** The identity as a caller with its current policies, or why it has none. */
export type CurrentIdentity = { caller: Caller } | { reason: string };

/**
 * Returns a stored identity with the policies that it has now: those of the entity and its groups, or those of the token while it
 * exists. The service's role may read `login.entities`, `entity_aliases`, `groups`, `group_aliases`, `auth_mounts`, and of
 * `login.tokens` what decides when one expires.
 */
export async function currentIdentity(
  sql: Sql,
  identity: StoredIdentity,
  requestId: string,
): Promise<CurrentIdentity> {
  const { entityId, accessor, policies, displayName, namespace, tokenNamespace } = identity;
  const caller: Caller = {
    requestId,
    accessor: null,
    tokenType: null,
    displayName,
    entityId,
    policies,
    identityPolicies: [],
    tokenExpiresAt: null,
    namespace,
    tokenNamespace,
    grants: [],
    remoteAddress: '',
  };
  if (entityId === null)
    return (await isTokenValid(sql, accessor)) ? { caller } : { reason: 'its token no longer exists' };
  const identityPolicies = await readIdentityPolicies(sql, entityId, tokenNamespace.id);
  if (identityPolicies === null) return { reason: 'its entity was deleted or disabled' };
  if (!areWithinLimit(identityPolicies)) return { reason: 'its entity has too many policies' };
  return { caller: { ...caller, identityPolicies } };
}

async function readIdentityPolicies(
  sql: Sql,
  entityId: string,
  namespaceId: string,
): Promise<string[] | null> {
  const [row] = await sql.query<{ policies: string[] | null }>(
    `select ${identityPoliciesSql('$1::uuid', '$2')} as policies`,
    [entityId, namespaceId],
  );
  return row?.policies ?? null;
}

async function isTokenValid(sql: Sql, accessor: string | null): Promise<boolean> {
  const rows = await sql.query(
    `select from login.tokens t
      where t.accessor = $1 and (t.uses_left is null or t.uses_left > 0)
        and coalesce(${tokenExpirySql('t')} > now(), true)`,
    [accessor],
  );
  return rows.length === 1;
}
