import type { Caller } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { invalid } from '@secrets/domain';
import { type AuthMountRow, findAuthMountByAccessor } from '../queries/auth-mounts.ts';
import type { AliasRow } from '../queries/groups.ts';

/** The fields of an alias that a request sets. For an existing alias, absent fields are kept. */
export interface AliasChange {
  /** That of an existing alias. */
  id?: string | undefined;
  name?: string | undefined;
  mount_accessor?: string | undefined;
  canonical_id?: string | undefined;
  custom_metadata?: Record<string, string> | undefined;
}

/**
 * Returns name and mount that an alias is to have: those of the change, else those that it has. Throws `invalid` if one is
 * missing, or there is no such mount.
 */
export async function requireNamedMount(
  tx: Tx,
  caller: Caller,
  change: AliasChange,
  stored: AliasRow | undefined,
): Promise<{ name: string; mount: AuthMountRow }> {
  const name = change.name ?? stored?.name;
  const accessor = change.mount_accessor ?? stored?.mountAccessor;
  if (name === undefined) throw missing('name');
  if (accessor === undefined) throw missing('mount_accessor');
  const mount = await findAuthMountByAccessor(tx, caller.namespace.id, accessor);
  if (mount === undefined) throw invalid('mount_accessor: no auth mount of this namespace has it');
  return { name, mount };
}

export const missing = (field: string) => invalid(`${field} is required`);
