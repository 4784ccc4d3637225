import { count } from '../../../components/inline/count.ts';
import { type SecretRef, useSyncedTo } from '../queries.ts';

const maxNames = 10;

/** Names, one in each line, the first ten of them. */
export const NameLines = ({ names }: { names: readonly string[] }) => (
  <>
    <ul>
      {names.slice(0, maxNames).map((name) => (
        <li key={name}>
          <code>{name === '' ? '(the empty key)' : name}</code>
        </li>
      ))}
    </ul>
    {names.length > maxNames && <p>and {names.length - maxNames} others</p>}
  </>
);

/** Names the destinations from which something is removed, for a dialog. `what` such as “these keys”. */
export const LosingDestinations = ({ secret, what }: { secret: SecretRef; what: string }) => (
  <SyncedDestinations
    secret={secret}
    verbs={['loses', 'lose']}
    what={what}
    unknown={`Destinations that lose ${what}`}
  />
);

interface ReceivingProps {
  secret: SecretRef;
  /** The keys that are removed, such as “the removed key”; undefined if there are none. */
  losing: string | undefined;
}

/** Names the destinations that receive a new version, for a dialog, and says what they lose. */
export const ReceivingDestinations = ({ secret, losing }: ReceivingProps) => (
  <section className="stack" aria-label="Destinations">
    <SyncedDestinations
      secret={secret}
      verbs={['receives', 'receive']}
      what={losing === undefined ? 'the new version' : `the new version, without ${losing}`}
      unknown="Destinations that receive it"
    />
    {losing !== undefined && (
      <p>Where each key is an external secret of its own, those of removed keys are deleted.</p>
    )}
  </section>
);

interface SyncedDestinationsProps {
  secret: SecretRef;
  /** The verb of the sentence about one destination, and that about several. */
  verbs: readonly [string, string];
  what: string;
  /** The beginning of the sentence that they cannot be shown. */
  unknown: string;
}

function SyncedDestinations({ secret, verbs, what, unknown }: SyncedDestinationsProps) {
  const { destinations, error, isRefused } = useSyncedTo(secret);
  if (isRefused) return <p>{unknown} cannot be shown: this token may not read the sync status.</p>;
  if (error) return <p>{unknown} cannot be shown: they could not be read.</p>;
  if (destinations === undefined) return <p role="status">Reading the destinations…</p>;
  if (destinations.length === 0) return <p>It is not synced to any destination.</p>;
  return (
    <>
      <p>
        <strong>{count(destinations.length, 'destination')}</strong>{' '}
        {verbs[destinations.length === 1 ? 0 : 1]} {what}:
      </p>
      <NameLines names={destinations.map(({ type, name }) => `${type}/${name}`)} />
    </>
  );
}
