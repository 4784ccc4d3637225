import type { PageRange, Sql } from '@secrets/db';
import { afterEveryPath } from '../kv/secret-path.ts';
import type { MountRef } from '../mounts/mount-ref.ts';
import { enabledMount, rowOfMount } from './mounts/enabled-mount.ts';

// Hops through the index from one name to the next. After a subfolder it continues at the first path behind everything
// in it ('0' is the character after '/'), so the content of subfolders is never read. $4 is the folder with its slash,
// $5 where the page begins, $6 where the folder ends.
const statement = `
  with recursive ${enabledMount},
  hop (path, place) as (
    select (
      select s.path from secrets.secrets s
      where s.mount_id = mount.id and s.path >= $5 and s.path < $6
      order by s.path limit 1
    ), 1
    from mount
    union all
    select (
      select s.path from secrets.secrets s
      where s.mount_id = $1 and s.path < $6 and s.path >= case
        when strpos(substr(hop.path, length($4) + 1), '/') = 0 then hop.path || chr(1)
        else $4 || split_part(substr(hop.path, length($4) + 1), '/', 1) || '0' end
      order by s.path limit 1
    ), place + 1
    from hop
    where hop.path is not null and place < $7::int
  )
  select split_part(substr(path, length($4) + 1), '/', 1)
    || case when strpos(substr(path, length($4) + 1), '/') = 0 then '' else '/' end as key
  from hop
  order by place`;

/**
 * Returns the names in a folder after `range.after`, in byte order; subfolders end with a slash. `folder` has no slash
 * at its end and is empty for the top.
 * @throws StaleMountError
 */
export async function listFolder(
  sql: Sql,
  mount: MountRef,
  folder: string,
  range: PageRange,
): Promise<string[]> {
  const prefix = folder === '' ? '' : `${folder}/`;
  const end = folder === '' ? afterEveryPath : `${folder}0`;
  const rows = await sql.query<{ key: string | null }>(statement, [
    mount.id,
    mount.namespaceId,
    mount.path,
    prefix,
    prefix + firstAfter(range.after),
    end,
    range.limit,
  ]);
  rowOfMount(rows);
  return rows.flatMap(({ key }) => (key === null ? [] : [key]));
}

function firstAfter(key: string): string {
  if (key === '') return '';
  return key.endsWith('/') ? `${key.slice(0, -1)}0` : `${key}\u0001`;
}
