import { type Endpoint, endpoint } from '@secrets/http';
import { confirmInstallation, type OwnInstallation, readInstallation } from '@secrets/sync-entries';
import type { Context } from '../context.ts';

/** `sys/sync/confirm-installation` (docs/conventions/sync-operation.md#held-syncing). */
export const installationEndpoints = (context: Context, installation: OwnInstallation): Endpoint[] => [
  confirm(context, installation),
];

const confirm = (context: Context, installation: OwnInstallation) =>
  endpoint({
    method: 'post',
    path: '/sys/sync/confirm-installation',
    summary: 'Continue to sync with another database or INSTALLATION than before, and look at everything',
    access: { isAdministrative: true, needsSudo: true },
    handle: async ({ warn }) => {
      const wasHeld = await context.db.transaction((tx) => confirmInstallation(tx, installation));
      if (!wasHeld) warn('syncing was not held: there was nothing to confirm');
      context.queue.notify();
      const { name, heldBecause } = await readInstallation(context.db);
      return { data: { installation: name, held_because: heldBecause } };
    },
  });
