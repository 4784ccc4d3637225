import { useState } from 'react';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { CheckboxField } from '../../../components/fields/checkbox-field.tsx';
import type { DestinationRef } from '../destination-api.ts';
import { useAction } from './use-action.ts';

/** Asks before everything that has failed in a destination is sent again, or everything is compared with the store. */
export function RetryDialog({ target, onClose }: { target: DestinationRef; onClose(): void }) {
  const [all, setAll] = useState(false);
  const retry = useAction(
    (api) =>
      api.POST('/v1/sys/sync/destinations/{type}/{name}/retry', { params: { path: target }, body: { all } }),
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
      <CheckboxField
        label="Also compare what is synced"
        help="Reads every external secret, and writes those that are missing or differ. Foreign ones are left alone."
        isSelected={all}
        onChange={setAll}
      />
    </ConfirmDialog>
  );
}
