import { Link } from 'wouter';
import { DestinationCell } from '../../components/inline/destination-link.tsx';
import { StatusBadge } from '../../components/inline/status-badge.tsx';
import { Time } from '../../components/inline/time.tsx';
import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import { Loading } from '../../components/loading.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { historyAddress } from './addresses.ts';
import { type AssociatedDestination, type SecretRef, useOfSecret } from './association-api.ts';
import { Holders } from './holders.tsx';

type Row = AssociatedDestination & { secret: SecretRef };

const helper = columnsOf<Row>();
const columns = helper.columns([
  helper.accessor('name', {
    header: 'Destination',
    cell: ({ row }) => <DestinationCell type={row.original.type} name={row.original.name} />,
  }),
  helper.accessor('sync_status', {
    header: 'Status',
    cell: ({ getValue }) => <StatusBadge status={getValue()} />,
  }),
  helper.display({
    id: 'holders',
    header: 'Held by',
    cell: ({ row: { original } }) => <Holders association={original} />,
  }),
  helper.accessor('updated_at', { header: 'Since', cell: ({ getValue }) => <Time at={getValue()} /> }),
  helper.display({
    id: 'history',
    header: () => <span className="visually-hidden">History</span>,
    cell: ({ row }) => (
      <Link
        className="button"
        href={historyAddress(row.original, row.original.secret)}
        aria-label={`History in ${row.original.name}`}
      >
        History
      </Link>
    ),
  }),
]);

/** The destinations of a secret with its status there, in pages. */
export function DestinationsOfSecret({ secret }: { secret: SecretRef }) {
  const pages = usePages<string>();
  const { data, error, refetch } = useOfSecret(secret, pages.after);
  if (error && !data)
    return (
      <ProblemNotice title="Its destinations could not be read." error={error} onRetry={() => refetch()} />
    );
  if (!data) return <Loading what="its destinations" />;
  return (
    <DataTable
      label="Destinations of the secret"
      columns={columns}
      rows={data.destinations.map((destination) => ({ ...destination, secret }))}
      rowId={({ type, name }) => `${type}/${name}`}
      empty="This secret is not associated with any destination."
      footer={<PageButtons pages={pages} next={data.next} />}
    />
  );
}
