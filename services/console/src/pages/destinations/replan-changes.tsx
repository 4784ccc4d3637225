import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import type { ReplanChange } from './replan-preview.ts';

const pageSize = 50;
const helper = columnsOf<ReplanChange>();

const columns = helper.columns([
  helper.accessor('association', { header: 'Secret' }),
  helper.accessor('create', { header: 'Created', cell: ({ getValue }) => <Names names={getValue()} /> }),
  helper.accessor('remove', { header: 'Deleted', cell: ({ getValue }) => <Names names={getValue()} /> }),
  helper.accessor('refused', { header: 'Left as it is, because', cell: ({ getValue }) => getValue() ?? '' }),
]);

/** The changes of a replan, association by association. */
export function ReplanChanges({ changes }: { changes: readonly ReplanChange[] }) {
  const pages = usePages<number>();
  const start = pages.after ?? 0;
  const end = start + pageSize;
  return (
    <DataTable
      label="Changes of a replan"
      columns={columns}
      rows={changes.slice(start, end)}
      rowId={({ association }) => association}
      empty="No association would change."
      footer={<PageButtons pages={pages} next={end < changes.length ? end : undefined} />}
    />
  );
}

const Names = ({ names }: { names: readonly string[] }) =>
  names.map((name) => (
    <div key={name}>
      <code>{name}</code>
    </div>
  ));
