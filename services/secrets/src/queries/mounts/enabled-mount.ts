import { type MountRef, StaleMountError } from '../../mounts/mount-ref.ts';

/**
 * First part of every statement about secrets: the mount, if it is still enabled at the path where the request found it.
 * Uses the parameters $1 to $3 of `underMount`.
 */
export const enabledMount = `mount as (
    select id, max_versions, cas_required, delete_after_seconds
    from secrets.mounts
    where id = $1 and namespace_id = $2 and path = $3 and disabled_at is null
  )`;

/** SQL for the lifetime of the versions of the secret `s` of that mount, in seconds; null if they do not expire. */
export const lifetime = 'least(nullif(s.delete_after_seconds, 0), nullif(mount.delete_after_seconds, 0))';

/** The parameters $1 to $4: the mount, and the secret's path below it. */
export const underMount = (mount: MountRef, path: string): [string, string, string, string] => [
  mount.id,
  mount.namespaceId,
  mount.path,
  path,
];

/**
 * Returns the first row of a statement that returns at least one row while its mount is enabled.
 * @throws StaleMountError if it returned none
 */
export function rowOfMount<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new StaleMountError();
  return row;
}
