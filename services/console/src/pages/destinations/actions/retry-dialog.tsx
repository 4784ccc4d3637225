import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import type { DestinationRef } from '../destination-api.ts';
import { useAction } from './use-action.ts';

/** Asks before everything that has failed in a destination is sent again. */
export function RetryDialog({ target, onClose }: { target: DestinationRef; onClose(): void }) {
  const retry = useAction(
    (api) => api.POST('/v1/sys/sync/destinations/{type}/{name}/retry', { params: { path: target } }),
    onClose,
  );
  return (
    <ConfirmDialog
      title={`Retry everything that has failed in ${target.name}?`}
      action="Retry"
      {...runs(retry)}
      onCancel={onClose}
    >
      <p>
        A pause of the destination ends, and every external secret with an error is sent again. If there are
        many, that happens in the background, and the page shows how many are left.
      </p>
    </ConfirmDialog>
  );
}
