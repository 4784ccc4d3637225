import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import type { DestinationRef } from '../destination-api.ts';
import { useAction } from './use-action.ts';

/** Asks before everything in a destination is looked at. */
export function InspectDialog({ target, onClose }: { target: DestinationRef; onClose(): void }) {
  const inspection = useAction(
    (api) =>
      api.POST('/v1/sys/sync/destinations/{type}/{name}/inspect', { params: { path: target }, body: {} }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={`Inspect everything in ${target.name} now?`}
      action="Inspect"
      {...runs(inspection)}
      onCancel={onClose}
    >
      <p>
        Every external secret is looked at, in the background, and what somebody else has changed or deleted
        is reported with its association. The page shows how many are left. That takes calls from the budget
        of the account, but changes nothing in the store; only with the drift_policy <code>repair</code>, what
        was changed or deleted is pushed again afterwards.
      </p>
    </ConfirmDialog>
  );
}
