import { numberOf, textOf } from '../../../api/optional.ts';
import { count } from '../../../components/inline/count.ts';
import { Time } from '../../../components/inline/time.tsx';
import { type Destination, type DestinationRef, destinationPath } from '../destination-api.ts';
import { HeldWork } from './held-work.tsx';

interface HeldRemovalsProps {
  destination: Destination;
  target: DestinationRef;
}

/**
 * Removals that were not requested explicitly and are held until they are confirmed
 * (docs/conventions/sync.md#changes-of-the-secret).
 */
export function HeldRemovals({ destination, target }: HeldRemovalsProps) {
  const since = textOf(destination.removals_held_at);
  if (since === undefined) return null;
  const externalSecrets = count(numberOf(destination.removals_held) ?? 0, 'external secret');
  const question = {
    title: `Remove ${externalSecrets} from ${target.name}?`,
    action: 'Remove them',
    isDangerous: true,
    text: (
      <p>
        They are deleted from the external store, in the background. Each source is checked again first: what
        exists by then is kept.
      </p>
    ),
  };
  return (
    <HeldWork
      path={destinationPath(target, 'confirm-removals')}
      button="Confirm the removals"
      question={question}
      confirm={(api) =>
        api.POST('/v1/sys/sync/destinations/{type}/{name}/confirm-removals', { params: { path: target } })
      }
    >
      <p>
        <strong>Removals are held</strong> since <Time at={since} />. The secrets, mounts or keys of{' '}
        {externalSecrets} are gone, and that is too many to remove without asking. If they come back, nothing
        is removed.
      </p>
    </HeldWork>
  );
}
