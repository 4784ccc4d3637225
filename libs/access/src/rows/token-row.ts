import type { BoundRow } from './row-guard.ts';

/** The columns of `login.tokens`, besides the hash of the token, that no statement changes after the insert. */
export const boundTokenColumns = [
  'accessor',
  'namespace_id',
  'display_name',
  'creation_path',
  'policies',
  'metadata',
  'bound_cidrs',
  'renewable',
  'ttl_seconds',
  'period_seconds',
  'explicit_max_ttl_seconds',
  'max_expires_at',
  'role_name',
  'mount_id',
  'login_source',
] as const;

/** Those values of a token, by their columns. */
export type TokenColumns = { accessor: string } & Record<(typeof boundTokenColumns)[number], unknown>;

export const tokenRow = (hash: Buffer, columns: TokenColumns): BoundRow => ({
  table: 'login.tokens',
  name: columns.accessor,
  values: [hash.toString('hex'), ...boundTokenColumns.map((column) => columns[column])],
});
