import { Link } from 'wouter';
import { columnsOf, DataTable } from '../../../components/data-table.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import { StatusBadge } from '../../../components/status-badge.tsx';
import { Time } from '../../../components/time.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { type SecretRef, syncedPath, useSyncedTo } from '../queries.ts';
import { permissionPaths } from './secret-paths.ts';

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
  const { data } = permissionPaths(secret);
  const { may } = usePermissions([syncedPath, data]);
  const isAllowed = may('read', syncedPath) && may('read', data);
  const { data: destinations, error } = useSyncedTo(secret, isAllowed);
  if (!isAllowed) return null;
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
