import { type ContentTable, contentRow, type RowGuard } from '@secrets/access';
import { Problem } from '@secrets/domain';
import type { HashedSettings } from '../queries/hashed-settings.ts';

/** Identifies a row with settings. */
export interface SettingsKey {
  table: Exclude<ContentTable, 'login.policies'>;
  /** The ID of its namespace or auth mount, and the name of a role. */
  key: readonly [owner: string, name?: string];
}

const roleOfMount = (name = '') => `role ${name}`;
const configuration = () => 'the configuration of this auth mount';
const again = 'delete it and create it again';

/** A row in a sentence, and a way to replace it that keeps nothing of it. */
const descriptions: Record<SettingsKey['table'], { noun(name?: string): string; remedy: string }> = {
  'login.token_roles': { noun: (name) => `token role ${name}`, remedy: again },
  'login.cloudb_roles': { noun: roleOfMount, remedy: again },
  'login.jwt_roles': { noun: roleOfMount, remedy: again },
  'login.kubernetes_roles': { noun: roleOfMount, remedy: again },
  'login.cloudb_configs': { noun: configuration, remedy: again },
  'login.jwt_configs': { noun: configuration, remedy: 'write it again' },
  'login.kubernetes_configs': { noun: configuration, remedy: 'write it again' },
};

/** Returns stored settings, if they exist. Throws `conflict` if they are not as they were written. */
export function believedSettings<Stored extends HashedSettings | undefined>(
  rows: RowGuard,
  { table, key }: SettingsKey,
  stored: Stored,
): object | (undefined extends Stored ? undefined : never) {
  if (stored === undefined) return undefined as never;
  const { settings, rowHash } = stored;
  if (rows.accepts(contentRow(table, key as readonly string[], settings), rowHash)) return settings;
  const { noun, remedy } = descriptions[table];
  throw new Problem('conflict', `${noun(key[1])}: is not as this service has written it; ${remedy}`);
}

/** The hash of settings that replace all stored ones. */
export const hashOfSettings = (
  rows: RowGuard,
  { table, key }: SettingsKey,
  settings: object,
): string | null => rows.hashOf(contentRow(table, key as readonly string[], settings));

/**
 * The hash of settings into which a request was merged. They keep fields of the stored ones, so they get none if those had none:
 * nothing proves who has written them.
 */
export const hashOfMerged = (
  rows: RowGuard,
  key: SettingsKey,
  stored: HashedSettings | undefined,
  merged: object,
): string | null => (stored?.rowHash === null ? null : hashOfSettings(rows, key, merged));
