import { Link } from 'wouter';
import { StatusBadge } from '../../../components/inline/status-badge.tsx';
import { Time } from '../../../components/inline/time.tsx';
import { columnsOf, DataTable } from '../../../components/lists/data-table.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { type SecretRef, useSyncedTo } from '../queries.ts';

interface Synced {
  type: string;
  name: string;
  sync_status: string;
  updated_at: string;
}

const helper = columnsOf<Synced>();

const columns = helper.columns([
  helper.accessor('name', {
    header: 'Destination',
    cell: ({ row: { original } }) => (
      <Link href={`/destinations/${original.type}/${encodeURIComponent(original.name)}`}>
        {original.type}/{original.name}
      </Link>
    ),
  }),
  helper.accessor('sync_status', {
    header: 'Status',
    cell: ({ row }) => <StatusBadge status={row.original.sync_status} />,
  }),
  helper.accessor('updated_at', {
    header: 'Changed',
    cell: ({ row }) => <Time at={row.original.updated_at} />,
  }),
]);

/** The destinations to which a secret is synced, with the status there. Nothing for a token that may not see them. */
export function SyncedTo({ secret }: { secret: SecretRef }) {
  const { destinations, error, isRefused } = useSyncedTo(secret);
  if (isRefused) return null;
  return (
    <section aria-label="Destinations">
      <h2>Synced to</h2>
      {error && <ProblemNotice title="The destinations could not be read." error={error} />}
      {destinations && (
        <DataTable
          label="Destinations of this secret"
          columns={columns}
          rows={destinations}
          rowId={({ type, name }) => `${type}/${name}`}
          empty="Not synced to any destination."
        />
      )}
    </section>
  );
}
