import type { Db } from '@secrets/db';

/** Resolves when none of the association's entries is pending any more, or after so many milliseconds. */
export type WaitForOutcome = (associationId: string, milliseconds: number) => Promise<void>;

interface Waiter {
  associationId: string;
  until: number;
  done: () => void;
}

const pollMs = 15;

/**
 * Waits for outcomes with one query for all who wait: its rate does not depend on how many they are, and without
 * anybody waiting there is none.
 */
export function waitForOutcome(db: Db): WaitForOutcome {
  const waiters = new Set<Waiter>();
  let isPolling = false;

  const poll = async () => {
    while (waiters.size > 0) {
      await new Promise((resolve) => setTimeout(resolve, pollMs));
      const waiting = [...waiters];
      const pending = await pendingOf(
        db,
        waiting.map(({ associationId }) => associationId),
      ).catch(() => undefined);
      const now = Date.now();
      for (const waiter of waiting) {
        const isOver = pending !== undefined && !pending.has(waiter.associationId);
        if (!isOver && now < waiter.until) continue;
        waiters.delete(waiter);
        waiter.done();
      }
    }
    isPolling = false;
  };

  return (associationId, milliseconds) =>
    new Promise((resolve) => {
      if (milliseconds <= 0) return resolve();
      waiters.add({ associationId, until: Date.now() + milliseconds, done: resolve });
      if (isPolling) return;
      isPolling = true;
      void poll();
    });
}

async function pendingOf(db: Db, associationIds: string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(
    `select distinct association_id as id from sync.entries
      where association_id = any($1::uuid[]) and status = 'PENDING'`,
    [associationIds],
  );
  return new Set(rows.map(({ id }) => id));
}
