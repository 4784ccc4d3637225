import type { Db, Sql } from '@secrets/db';
import { type ClaimedEntry, claimEntries, completeEntries, completeRemoval } from '@secrets/sync-entries';

export const destinationType = 'cloudA-sm';

/** An external secret: which secret and version was pushed. */
export interface Pushed {
  secretId: string;
  version: number;
}

/** The external stores, in memory, and the worker that writes to them. */
export class Outside {
  /** By destination and name. */
  readonly held = new Map<string, Pushed>();

  static place = (destinationId: string, name: string): string => `${destinationId} ${name}`;

  /** Works on each entry that is due, as a worker does: with the newest version that is readable then. */
  async work(db: Db): Promise<void> {
    for (const entryId of await listEntries(db)) {
      const claim = { entryIds: [entryId], destinationType, owner: 'test', leaseSeconds: 60 };
      const [held] = await claimEntries(db, claim);
      if (held !== undefined) await this.#workOn(db, held);
    }
  }

  async #workOn(db: Db, held: ClaimedEntry): Promise<void> {
    const place = Outside.place(held.destinationId, held.collisionKey);
    if (held.desired === 'absent') {
      this.held.delete(place);
      await completeRemoval(db, held);
      return;
    }
    const pushed = await findReadable(db, held.associationId);
    if (pushed === undefined) this.held.delete(place);
    else this.held.set(place, pushed);
    const achieved =
      pushed === undefined
        ? ({ status: 'UNSYNCED', pushedHash: null, settingsHash: null, remote: null } as const)
        : ({ status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: null } as const);
    await completeEntries(db, [{ held, achieved }]);
  }
}

const listEntries = async (sql: Sql): Promise<string[]> => {
  const due =
    'select id from sync.entries where applied_generation < generation or due_at is not null order by id';
  return (await sql.query<{ id: string }>(due)).map(({ id }) => id);
};

async function findReadable(sql: Sql, associationId: string): Promise<Pushed | undefined> {
  const [row] = await sql.query<Pushed>(
    `select v.secret_id as "secretId", v.version from sync.associations a
       join secrets.secrets s on s.id = a.secret_id join secrets.mounts m on m.id = s.mount_id and m.disabled_at is null
       join secrets.versions v on v.secret_id = s.id
      where a.id = $1 and not v.destroyed and (v.deletion_time is null or v.deletion_time > now())
      order by v.version desc limit 1`,
    [associationId],
  );
  return row;
}
