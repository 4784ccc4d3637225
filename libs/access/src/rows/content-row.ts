import type { BoundRow } from './row-guard.ts';

/** The tables whose rows have one JSON column that decides, which is bound with the owner and the name of its row. */
export const contentTables = {
  'login.policies': { owner: 'namespace_id', content: 'rules', firstOwner: '' },
} as const satisfies { [Table in BoundRow['table']]?: object };

export type ContentTable = keyof typeof contentTables;

export const contentTableNames = Object.keys(contentTables) as ContentTable[];

/** @param content as JSON would return it */
export const contentRow = (table: ContentTable, owner: string, name: string, content: unknown): BoundRow => ({
  table,
  name: `${owner}/${name}`,
  values: [owner, name, content],
});
