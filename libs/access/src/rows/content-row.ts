import type { BoundRow } from './row-guard.ts';

const noMount = '00000000-0000-0000-0000-000000000000';

const ofNamespace = { key: ['namespace_id', 'name'], first: ['', ''] } as const;
const ofMount = { key: ['mount_id', 'name'], first: [noMount, ''], content: 'settings' } as const;
/** A mount has at most one row. */
const onlyOfMount = { key: ['mount_id'], first: [noMount], content: 'settings' } as const;

/** The tables whose rows have one JSON column that decides, which is bound with the key of its row. */
export const contentTables = {
  'login.policies': { ...ofNamespace, content: 'rules' },
  'login.token_roles': { ...ofNamespace, content: 'settings' },
  'login.cloudb_roles': ofMount,
  'login.jwt_roles': ofMount,
  'login.kubernetes_roles': ofMount,
  'login.cloudb_configs': onlyOfMount,
  'login.jwt_configs': onlyOfMount,
  'login.kubernetes_configs': onlyOfMount,
} as const satisfies { [Table in BoundRow['table']]?: object };

export type ContentTable = keyof typeof contentTables;

export const contentTableNames = Object.keys(contentTables) as ContentTable[];

/**
 * @param key the ID of the namespace or the mount, and the name if there may be several
 * @param content as JSON would return it
 */
export const contentRow = (table: ContentTable, key: readonly string[], content: unknown): BoundRow => ({
  table,
  name: key.join('/'),
  values: [...key, content],
});
