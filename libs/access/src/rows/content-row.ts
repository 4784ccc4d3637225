import type { BoundRow } from './row-guard.ts';

const noMount = '00000000-0000-0000-0000-000000000000';

/** The tables whose rows have one JSON column that decides, which is bound with the owner and the name of its row. */
export const contentTables = {
  'login.policies': { owner: 'namespace_id', content: 'rules', firstOwner: '' },
  'login.token_roles': { owner: 'namespace_id', content: 'settings', firstOwner: '' },
  'login.cloudb_roles': { owner: 'mount_id', content: 'settings', firstOwner: noMount },
  'login.jwt_roles': { owner: 'mount_id', content: 'settings', firstOwner: noMount },
  'login.kubernetes_roles': { owner: 'mount_id', content: 'settings', firstOwner: noMount },
} as const satisfies { [Table in BoundRow['table']]?: object };

export type ContentTable = keyof typeof contentTables;

export const contentTableNames = Object.keys(contentTables) as ContentTable[];

/** @param content as JSON would return it */
export const contentRow = (table: ContentTable, owner: string, name: string, content: unknown): BoundRow => ({
  table,
  name: `${owner}/${name}`,
  values: [owner, name, content],
});
