import { numberOf, textOf } from '../../../api/optional.ts';
import { count } from '../../../components/inline/count.ts';
import { driftCounts } from '../../../components/inline/drift.tsx';
import { Time } from '../../../components/inline/time.tsx';
import { useOfDestination } from '../../associations/association-api.ts';
import { type Destination, type DestinationRef, destinationPath } from '../destination-api.ts';
import { HeldWork } from './held-work.tsx';

interface HeldRepairsProps {
  destination: Destination;
  target: DestinationRef;
}

/** Kinds of drift that are repaired; what is foreign never is. */
const repairable = ['changed', 'missing'];

/** Repairs that are held until they are confirmed (docs/conventions/drift.md#repairs). */
export function HeldRepairs({ destination, target }: HeldRepairsProps) {
  const since = textOf(destination.repairs_held_at);
  if (since === undefined) return null;
  const numbers = driftCounts(destination.drifted).filter(([kind]) => repairable.includes(kind));
  const pushed = count(
    numbers.reduce((sum, [, number]) => sum + number, 0),
    'external secret',
  );
  const question = {
    title: `Push ${pushed} to ${target.name} again?`,
    action: 'Push them again',
    isDangerous: true,
    text: <Pushed target={target} pushed={pushed} />,
  };
  return (
    <HeldWork
      path={destinationPath(target, 'confirm-repairs')}
      button="Confirm the repairs"
      question={question}
      confirm={(api) =>
        api.POST('/v1/sys/sync/destinations/{type}/{name}/confirm-repairs', { params: { path: target } })
      }
    >
      <p>
        <strong>Repairs are held</strong> since <Time at={since} />. Somebody else has changed, deleted or
        taken {count(numberOf(destination.repairs_held) ?? 0, 'external secret')}, and that is too many to
        push again without asking. Find out first which values are right: after a restore of this database,
        those in the store may be newer. With the drift_policy <code>report</code>, nothing is pushed.
      </p>
    </HeldWork>
  );
}

const shown = 5;

/** Names some of the external secrets that would be pushed. */
function Pushed({ target, pushed }: { target: DestinationRef; pushed: string }) {
  const { data, error } = useOfDestination(target, { status: '', drift: repairable.join() }, undefined, true);
  const examples = data?.objects ?? [];
  return (
    <>
      <p>
        <strong>{pushed}</strong> get the newest value of their secret again, in the background. Values that
        somebody else has written there are lost. What belongs to somebody else is left alone.
      </p>
      {error && <p>Their names could not be read.</p>}
      {!data && !error && <p role="status">Reading their names…</p>}
      <ul>
        {examples.slice(0, shown).map(({ mount, secret_name, sub_key, external_name, drift }) => (
          <li key={`${mount} ${secret_name} ${sub_key} ${external_name}`}>
            <code>{external_name}</code>, {textOf(drift)}, from {mount}/{secret_name}
          </li>
        ))}
      </ul>
      {examples.length > shown && <p>and others</p>}
    </>
  );
}
