import { useState } from 'react';
import { numberOf, textOf } from '../../../api/optional.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog, runs } from '../../../components/confirm-dialog.tsx';
import { count } from '../../../components/inline/count.ts';
import { Time } from '../../../components/inline/time.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { type Destination, type DestinationRef, destinationPath } from '../destination-api.ts';
import { useAction } from './use-action.ts';
import '../../../components/notice.css';

interface HeldRemovalsProps {
  destination: Destination;
  target: DestinationRef;
}

/**
 * Removals that were not requested explicitly and are held until they are confirmed
 * (docs/conventions/sync.md#changes-of-the-secret).
 */
export function HeldRemovals({ destination, target }: HeldRemovalsProps) {
  const path = destinationPath(target, 'confirm-removals');
  const { may } = usePermissions([path]);
  const [asks, setAsks] = useState(false);
  const confirmation = useAction(
    (api) =>
      api.POST('/v1/sys/sync/destinations/{type}/{name}/confirm-removals', { params: { path: target } }),
    () => setAsks(false),
  );
  const since = textOf(destination.removals_held_at);
  const held = numberOf(destination.removals_held) ?? 0;
  if (since === undefined) return null;
  const externalSecrets = count(held, 'external secret');
  return (
    <div className="notice notice-bad" role="status">
      <p>
        <strong>Removals are held</strong> since <Time at={since} />. The secrets, mounts or keys of{' '}
        {externalSecrets} are gone, and that is too many to remove without asking. If they come back, nothing
        is removed.
      </p>
      {may('update', path) && <Button onPress={() => setAsks(true)}>Confirm the removals</Button>}
      {asks && (
        <ConfirmDialog
          title={`Remove ${externalSecrets} from ${target.name}?`}
          action="Remove them"
          isDangerous
          {...runs(confirmation)}
          onCancel={() => setAsks(false)}
        >
          <p>
            They are deleted from the external store, in the background. Each source is checked again first:
            what exists by then is kept.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
