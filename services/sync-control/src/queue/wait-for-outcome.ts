import type { Db } from '@secrets/db';
import { pendingAssociations } from '@secrets/sync-entries';
import { sharedWait, type Wait } from './shared-wait.ts';

/** Resolves when none of the association's entries is pending, or after this many milliseconds. */
export type WaitForOutcome = Wait<string>;

export const waitForOutcome = (db: Db): WaitForOutcome =>
  sharedWait({
    pauseMs: () => 15,
    areOver: async (ids) => {
      const pending = await pendingAssociations(db, ids);
      return ids.map((id) => !pending.has(id));
    },
  });
