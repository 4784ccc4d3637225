import { type Caller, isRoot, maySudo, requireGrant } from '@secrets/caller';
import { Problem, requireFound } from '@secrets/domain';
import { requireMayGive } from '../../identities/grantable.ts';
import { serializeWrites } from '../../queries/namespaces.ts';
import { findTokenRole, upsertTokenRole } from '../../queries/tokens/token-roles.ts';
import { believedSettings, hashOfMerged } from '../../rows/believed-settings.ts';
import type { TokenContext } from '../issue-token.ts';
import { givenPolicies, onlyDisallows } from './role-policies.ts';
import {
  mergedTokenRole,
  parseTokenRole,
  type TokenRole,
  type TokenRoleBody,
  type TokenRoleSettings,
} from './role-settings.ts';

type RoleContext = Pick<TokenContext, 'db' | 'rows'>;

const keyOf = (namespaceId: string, name: string) =>
  ({ table: 'login.token_roles', key: [namespaceId, name] }) as const;

/** The settings of a role, which may lack fields; undefined if there is none. Throws what `believedSettings` throws. */
export const findBelievedRole = async (
  { db, rows }: RoleContext,
  namespaceId: string,
  name: string,
): Promise<object | undefined> =>
  believedSettings(rows, keyOf(namespaceId, name), await findTokenRole(db, namespaceId, name));

/** The role of a name in the namespace of the request. Throws `not_found` if there is none. */
export async function requireTokenRole(
  context: RoleContext,
  caller: Caller,
  name: string,
): Promise<TokenRole> {
  const settings = requireFound(await findBelievedRole(context, caller.namespace.id, name));
  return {
    ...parseTokenRole(settings, name),
    name,
    isOpen: (settings as { is_open?: unknown }).is_open === true,
  };
}

/**
 * Creates a token role, or merges a request into the stored one (docs/conventions/access.md#token-roles). Returns
 * whether the policies that it does not disallow remain those of a child, because its author lacks `sudo`. Throws
 * `invalid` if the result is not a valid role, `invalid` or `forbidden` if it grants more than the caller may.
 */
export const saveTokenRole = (
  { db, rows }: RoleContext,
  caller: Caller,
  name: string,
  body: TokenRoleBody,
): Promise<{ isLimited: boolean }> =>
  db.transaction(async (tx) => {
    const namespaceId = caller.namespace.id;
    await serializeWrites(tx, namespaceId);
    const stored = await findTokenRole(tx, namespaceId, name);
    requireGrant(caller, stored !== undefined);
    const key = keyOf(namespaceId, name);
    const role = mergedTokenRole(believedSettings(rows, key, stored), body);
    requireMayGrant(caller, role);
    const isOpen = onlyDisallows(role) && maySudo(caller);
    const settings = { ...role, is_open: isOpen };
    const rowHash = hashOfMerged(rows, key, stored, settings);
    await upsertTokenRole(tx, namespaceId, name, { settings, rowHash });
    return { isLimited: onlyDisallows(role) && !isOpen };
  });

/**
 * Requires that the author of a role may grant what it grants: whoever may use the role has no need to. It is checked
 * for the whole role, because also a change of one field may widen what another one grants.
 */
function requireMayGrant(caller: Caller, role: TokenRoleSettings): void {
  if (role.allowed_policies.includes('root') && !isRoot(caller))
    throw new Problem('forbidden', 'allowed_policies: only a root token can allow root');
  requireMayGive(caller, givenPolicies(role));
  const beyond = {
    allowed_policies_glob: role.allowed_policies_glob.length > 0,
    orphan: role.orphan,
    token_period: role.token_period > 0,
  };
  for (const [field, grants] of Object.entries(beyond))
    if (grants && !maySudo(caller)) throw new Problem('forbidden', `${field}: needs sudo`);
}
