import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import {
  type AdmittedEntries,
  type AttemptResult,
  admitEntries,
  type ClaimedEntry,
  claimEntries,
  completeEntries,
  type Entry,
  entriesOf,
  insertEntries,
  markAnnounced,
} from '../src/index.ts';

export const destinationType = 'cloudA-sm';
export const pushed = {
  status: 'SYNCED',
  pushedHash: 'h',
  settingsHash: 's',
  remote: { arn: 'a' },
} as const;

/** A failure that waits for the operator. */
export const rejected = {
  status: 'CLIENT_SIDE_ERROR',
  fault: 'rejected',
  error: 'bad',
  retryInSeconds: null,
} as const;

export interface EntriesForTest {
  db: Db;
  destinationId: () => string;
  associationId: () => string;
  /** Adds an entry with this external name and returns its ID. */
  add(name?: string): Promise<string>;
  claim(entryId: string, leaseSeconds?: number): Promise<ClaimedEntry | undefined>;
  claimAll(entryIds: string[], leaseSeconds?: number): Promise<ClaimedEntry[]>;
  complete(held: ClaimedEntry, achieved: AttemptResult): Promise<boolean>;
  entry(id: string): Promise<Entry | undefined>;
  /** Admits the due entries as the scheduler does, without publishing them. */
  admit(): Promise<AdmittedEntries>;
  /** As `admit`; returns their IDs. */
  due(): Promise<string[]>;
  /** Admits the due entries and records that they were published. */
  announce(): Promise<void>;
  /** Moves every time of the entries one day into the past: leases end, retries and announcements become due. */
  timePasses(): Promise<void>;
}

/** Creates a destination with one association for each test of the calling file, in a database of that file. */
export function entriesForTest(): EntriesForTest {
  let opened: Db;
  let destinationId: string;
  let associationId: string;
  const db: Db = {
    query: (text, params) => opened.query(text, params),
    transaction: (work) => opened.transaction(work),
    now: () => opened.now(),
    close: () => opened.close(),
  };
  beforeAll(async () => {
    opened = await openTestDb();
  });
  afterAll(() => opened?.close());
  beforeEach(async () => {
    destinationId = randomUUID();
    associationId = randomUUID();
    await insertAssociation(db, destinationId, associationId);
  });
  const claimAll = (entryIds: string[], leaseSeconds = 30) =>
    claimEntries(db, { entryIds, destinationType, owner: randomUUID(), leaseSeconds });
  return {
    db,
    destinationId: () => destinationId,
    associationId: () => associationId,
    add: async (name = 'n') => {
      const association = { id: associationId, destinationId, destinationType };
      const wanted = [{ subKey: '', externalName: name, collisionKey: name }];
      return (await insertEntries(db, association, wanted))[0]!.id;
    },
    claimAll,
    claim: async (entryId, leaseSeconds) => (await claimAll([entryId], leaseSeconds))[0],
    complete: async (held, achieved) => (await completeEntries(db, [{ held, achieved }])).has(held.id),
    entry: async (id) => (await entriesOf(db, [associationId])).find((one) => one.id === id),
    admit: () => admit(db),
    due: async () => idsOf(await admit(db)),
    announce: () => announce(db),
    timePasses: () => timePasses(db),
  };
}

async function insertAssociation(db: Db, destinationId: string, associationId: string): Promise<void> {
  await db.query('delete from sync.destinations');
  await db.query('delete from sync.lanes');
  await db.query('update sync.config set disabled = false');
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
     values ($1, 'root', '', $2, 'd', '{}')`,
    [destinationId, destinationType],
  );
  await db.query('update sync.lanes set window_size = 64');
  await db.query(
    `insert into sync.destination_health (destination_id, destination_type, window_size) values ($1, $2, 64)`,
    [destinationId, destinationType],
  );
  await db.query(
    `insert into sync.associations
       (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     values ($1, $2, 'root', $3, 'kv', 'kv_1', $3, 's', 1)`,
    [associationId, destinationId, randomUUID()],
  );
}

async function announce(db: Db): Promise<void> {
  const admitted = await admit(db);
  await markAnnounced(db, [{ entryIds: idsOf(admitted), announcedAt: admitted.announcedAt! }]);
}

const idsOf = ({ messages }: AdmittedEntries): string[] => messages.map(({ entry_id }) => entry_id);

const admit = (db: Db): Promise<AdmittedEntries> =>
  admitEntries(db, { destinationType, budget: { perSecond: 1_000_000, burst: 1_000_000 } });

const timePasses = async (db: Db): Promise<void> => {
  await db.query(
    `update sync.entries
        set lease_until = lease_until - interval '1 day', due_at = due_at - interval '1 day',
            next_attempt_at = next_attempt_at - interval '1 day', announced_at = announced_at - interval '1 day'`,
  );
};

/** Keeps the entries as they are; `restore` brings them back, as a failover to a standby does that lacks the commits since. */
export async function keepEntries(db: Db): Promise<{ restore(): Promise<void> }> {
  const rows = await db.query<{ entry: string }>('select to_jsonb(e)::text as entry from sync.entries e');
  return {
    restore: () =>
      db.transaction(async (tx) => {
        await tx.query('delete from sync.entries');
        await tx.query(
          `insert into sync.entries select (jsonb_populate_record(null::sync.entries, entry::jsonb)).* from unnest($1::text[]) as kept (entry)`,
          [rows.map(({ entry }) => entry)],
        );
      }),
  };
}

/** Locks the row of an entry until it is released. */
export async function holdEntry(db: Db, id: string): Promise<{ release(): Promise<void> }> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
  const holding = db.transaction(async (tx) => {
    await tx.query('select id from sync.entries where id = $1 for update', [id]);
    onLocked();
    await released;
  });
  await locked;
  return {
    release: () => {
      release();
      return holding;
    },
  };
}
