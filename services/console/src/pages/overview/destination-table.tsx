import type { ReactNode } from 'react';
import { numberOf, textOf } from '../../api/optional.ts';
import { count } from '../../components/inline/count.ts';
import { DestinationCell } from '../../components/inline/destination-link.tsx';
import { DriftCounts, driftCounts } from '../../components/inline/drift.tsx';
import { StatusBadge } from '../../components/inline/status-badge.tsx';
import { duration, Time } from '../../components/inline/time.tsx';
import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import type { DestinationStatus } from './queries.ts';

const helper = columnsOf<DestinationStatus>();

const columns = helper.columns([
  helper.accessor('name', {
    header: 'Destination',
    cell: ({ row }) => <DestinationCell type={row.original.type} name={row.original.name} />,
  }),
  helper.accessor('state', { header: 'State', cell: ({ row }) => <State destination={row.original} /> }),
  helper.accessor('entries', {
    header: 'External secrets',
    cell: ({ row }) => <Entries destination={row.original} />,
  }),
  helper.accessor('queue', { header: 'Work', cell: ({ row }) => <Work destination={row.original} /> }),
]);

/** Destinations with the numbers of their external secrets by status, and what they wait for. */
export const DestinationTable = ({
  destinations,
  footer,
}: {
  destinations: readonly DestinationStatus[];
  footer: ReactNode;
}) => (
  <DataTable
    label="Destinations"
    columns={columns}
    rows={destinations}
    rowId={({ type, name }) => `${type}/${name}`}
    empty="There are no destinations in this namespace."
    footer={footer}
  />
);

function State({ destination: { state, reason, paused_until } }: { destination: DestinationStatus }) {
  const until = textOf(paused_until);
  return (
    <>
      <StatusBadge status={state} />
      {textOf(reason) && <div>{textOf(reason)}</div>}
      {until && (
        <div className="soft">
          reopens <Time at={until} />
        </div>
      )}
    </>
  );
}

function Entries({ destination: { entries, drifted } }: { destination: DestinationStatus }) {
  const counts = Object.entries(entries).filter(([, count]) => count > 0);
  const drifts = driftCounts(drifted);
  if (counts.length === 0) return <span className="soft">none</span>;
  return (
    <>
      <span className="row">
        {counts.map(([status, count]) => (
          <StatusBadge key={status} status={status} count={count} />
        ))}
      </span>
      {drifts.length > 0 && <DriftCounts counts={drifts} />}
    </>
  );
}

function Work({ destination }: { destination: DestinationStatus }) {
  const { queue, work, associations_with_unsyncable_keys, removals_held_at, repairs_held_at } = destination;
  const oldest = numberOf(queue.oldest_due_seconds);
  const parts = [
    queue.due > 0 && `${queue.due.toLocaleString('en')} due`,
    queue.in_progress > 0 && `${queue.in_progress.toLocaleString('en')} in progress`,
    queue.scheduled > 0 && `${queue.scheduled.toLocaleString('en')} retried later`,
    oldest !== undefined && `the oldest due for ${duration(oldest)}`,
    ...work.map((kind) => `${String(kind)} in progress`),
    textOf(removals_held_at) !== undefined && 'removals wait for a confirmation',
    textOf(repairs_held_at) !== undefined && 'repairs wait for a confirmation',
    associations_with_unsyncable_keys > 0 &&
      `${count(associations_with_unsyncable_keys, 'association')} with keys that cannot be synced`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? <span className="soft">nothing to do</span> : parts.join(', ');
}
