import { type ContentTable, contentRow, type RowGuard } from '@secrets/access';
import { Problem } from '@secrets/domain';
import type { HashedSettings } from '../queries/hashed-settings.ts';

interface RoleKey {
  table: Exclude<ContentTable, 'login.policies'>;
  /** The ID of its namespace or auth mount. */
  owner: string;
  name: string;
}

const nouns: Record<RoleKey['table'], string> = {
  'login.token_roles': 'token role',
  'login.cloudb_roles': 'role',
  'login.jwt_roles': 'role',
  'login.kubernetes_roles': 'role',
};

/** Returns the settings of a role, if it exists. Throws `conflict` if they are not as they were written. */
export function believedSettings<Stored extends HashedSettings | undefined>(
  rows: RowGuard,
  { table, owner, name }: RoleKey,
  stored: Stored,
): object | (undefined extends Stored ? undefined : never) {
  if (stored === undefined) return undefined as never;
  const { settings, rowHash } = stored;
  if (rows.accepts(contentRow(table, owner, name, settings), rowHash)) return settings;
  throw new Problem(
    'conflict',
    `${nouns[table]} ${name}: is not as this service has written it; delete it and create it again`,
  );
}

/**
 * The hash of settings into which a request was merged. They keep fields of the stored ones, so they get none if those had none:
 * nothing proves who has written them.
 */
export const hashOfMerged = (
  rows: RowGuard,
  { table, owner, name }: RoleKey,
  stored: HashedSettings | undefined,
  merged: object,
): string | null => (stored?.rowHash === null ? null : rows.hashOf(contentRow(table, owner, name, merged)));
