import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '@secrets/db';
import { pendingAssociations } from '@secrets/sync-entries';

/** Resolves when none of the association's entries is pending, or after this many milliseconds. */
export type WaitForOutcome = (associationId: string, milliseconds: number) => Promise<void>;

interface Waiter {
  associationId: string;
  until: number;
  done: () => void;
}

const pollMs = 15;

/** Waits for outcomes with one query for all waiters: its rate does not depend on their number, and is 0 without any. */
export function waitForOutcome(db: Db): WaitForOutcome {
  const waiters = new Set<Waiter>();
  let isPolling = false;

  const poll = async () => {
    while (waiters.size > 0) {
      await sleep(pollMs);
      await endFinished(db, waiters);
    }
    isPolling = false;
  };

  return (associationId, milliseconds) =>
    new Promise((resolve) => {
      if (milliseconds <= 0) return resolve();
      waiters.add({ associationId, until: performance.now() + milliseconds, done: resolve });
      if (isPolling) return;
      isPolling = true;
      void poll();
    });
}

async function endFinished(db: Db, waiters: Set<Waiter>): Promise<void> {
  const waiting = [...waiters];
  const ids = waiting.map(({ associationId }) => associationId);
  const pending = await pendingAssociations(db, ids).catch(() => undefined); // asked again at the next poll
  const now = performance.now();
  for (const waiter of waiting) {
    const isOver = pending !== undefined && !pending.has(waiter.associationId);
    if (!isOver && now < waiter.until) continue;
    waiters.delete(waiter);
    waiter.done();
  }
}
