import type { Sql } from '@secrets/db';
import type { MountRef } from '../known-mounts.ts';
import { enabledMount, rowOfMount, underMount } from './enabled-mount.ts';

/** What the conditions of a write are judged by. */
export interface WriteState {
  exists: boolean;
  currentVersion: number;
  casRequired: boolean;
}

/** How a secret stands, to say why a write was refused. Throws `MountGone`. */
export async function readWriteState(sql: Sql, mount: MountRef, path: string): Promise<WriteState> {
  const rows = await sql.query<WriteState>(
    `with ${enabledMount}
     select s.id is not null as "exists", coalesce(s.current_version, 0) as "currentVersion",
       mount.cas_required or coalesce(s.cas_required, false) as "casRequired"
     from mount left join secrets.secrets s on s.mount_id = mount.id and s.path = $4`,
    underMount(mount, path),
  );
  return rowOfMount(rows);
}
