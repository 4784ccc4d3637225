import { textOf } from '../../api/optional.ts';
import { StatusBadge } from '../../components/inline/status-badge.tsx';
import { Time } from '../../components/inline/time.tsx';
import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { type Lane, usePausedLanes } from './queries.ts';

const helper = columnsOf<Lane>();

const columns = helper.columns([
  helper.accessor('type', { header: 'Type' }),
  helper.accessor('destinations', {
    header: 'Destinations',
    cell: ({ getValue }) => getValue().join(', '),
  }),
  helper.accessor('state', { header: 'State', cell: ({ getValue }) => <StatusBadge status={getValue()} /> }),
  helper.accessor('reason', { header: 'Reason', cell: ({ getValue }) => textOf(getValue()) ?? '' }),
  helper.accessor('paused_until', {
    header: 'Reopens',
    cell: ({ row }) => {
      const until = textOf(row.original.paused_until) ?? textOf(row.original.throttled_until);
      return until === undefined ? 'after the next successful attempt' : <Time at={until} />;
    },
  }),
]);

/** Accounts at providers that do not take work at the moment. Their destinations wait together. */
export function PausedLanes() {
  const { data, error } = usePausedLanes(true);
  if (error) return <ProblemNotice title="The lanes could not be read." error={error} />;
  return (
    <section aria-labelledby="lanes">
      <h2 id="lanes">Paused accounts</h2>
      <DataTable
        label="Paused accounts"
        columns={columns}
        rows={data ?? []}
        rowId={({ id }) => id}
        empty={data ? 'All accounts are open.' : 'Reading the accounts…'}
      />
    </section>
  );
}
