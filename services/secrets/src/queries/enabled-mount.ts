import type { MountRef } from '../known-mounts.ts';
import { MountGone } from '../known-mounts.ts';

/**
 * First part of every statement about secrets: the mount, if it still stands enabled where the request found it.
 * Takes the parameters $1 to $3 of `underMount`.
 */
export const enabledMount = `mount as (
    select id, max_versions, cas_required, delete_after_seconds
    from secrets.mounts
    where id = $1 and namespace_id = $2 and path = $3 and disabled_at is null
  )`;

/** The parameters $1 to $4: mount and path of the secret. */
export const underMount = (mount: MountRef, path: string): [string, string, string, string] => [
  mount.id,
  mount.namespaceId,
  mount.path,
  path,
];

/** The single row of a statement that answers one row as long as its mount is there. Throws `MountGone` otherwise. */
export function rowOfMount<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new MountGone();
  return row;
}
