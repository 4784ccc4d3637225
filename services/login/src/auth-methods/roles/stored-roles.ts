import { type Caller, requireGrant } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { requireFound } from '@secrets/domain';
import { changingMount } from '../../auth-mounts/changing-mount.ts';
import { believedSettings, hashOfMerged, type SettingsKey } from '../../rows/believed-settings.ts';
import type { AuthMethodDeps } from '../auth-method.ts';
import { findRole, type RoleTable, upsertRole } from './queries/roles.ts';

/** Identifies a role of a mount; its name is case-insensitive. */
export interface RoleName {
  mountId: string;
  name: string;
}

type RolesContext = Pick<AuthMethodDeps, 'db' | 'rows'>;

/** Identifies the row of a role. */
export const roleKey = (table: RoleTable, { mountId, name }: RoleName): SettingsKey => ({
  table,
  key: [mountId, name.toLowerCase()],
});

/** The stored settings of a role. Throws `not_found` if there is none, and what `believedSettings` throws. */
export async function requireRole(
  { db, rows }: RolesContext,
  table: RoleTable,
  role: RoleName,
): Promise<object> {
  const stored = requireFound(await findRole(db, table, role.mountId, role.name));
  return believedSettings(rows, roleKey(table, role), stored);
}

/** A write of a role: merges a request into the stored settings, and says what is to be known about the result. */
export interface RoleWrite<Settings extends object> {
  merge(stored: object | undefined): Settings;
  warnings(tx: Tx, settings: Settings): Promise<string[]>;
}

/**
 * Creates a role, or merges a request into the stored one. Returns warnings. Throws what `merge` throws, and `not_found` if the
 * mount was disabled in the meantime.
 */
export const saveRole = <Settings extends object>(
  context: RolesContext,
  caller: Caller,
  table: RoleTable,
  role: RoleName,
  { merge, warnings }: RoleWrite<Settings>,
): Promise<string[]> =>
  changingMount(context, role.mountId, async (tx) => {
    const stored = await findRole(tx, table, role.mountId, role.name);
    requireGrant(caller, stored !== undefined);
    const key = roleKey(table, role);
    const settings = merge(believedSettings(context.rows, key, stored));
    const rowHash = hashOfMerged(context.rows, key, stored, settings);
    await upsertRole(tx, table, role.mountId, { name: role.name, settings, rowHash });
    return warnings(tx, settings);
  });
