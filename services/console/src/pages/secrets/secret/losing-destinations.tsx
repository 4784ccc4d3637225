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
export function LosingDestinations({ secret, what }: { secret: SecretRef; what: string }) {
  const { destinations, error, isRefused } = useSyncedTo(secret);
  if (isRefused)
    return <p>Destinations that lose {what} cannot be shown: this token may not read the sync status.</p>;
  if (error) return <p>Destinations that lose {what} cannot be shown: they could not be read.</p>;
  if (destinations === undefined) return <p role="status">Reading the destinations…</p>;
  if (destinations.length === 0) return <p>It is not synced to any destination.</p>;
  return (
    <>
      <p>
        <strong>{count(destinations.length, 'destination')}</strong>{' '}
        {destinations.length === 1 ? 'loses' : 'lose'} {what}:
      </p>
      <NameLines names={destinations.map(({ type, name }) => `${type}/${name}`)} />
    </>
  );
}
