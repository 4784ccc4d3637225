import {
  type ColumnDef,
  createColumnHelper,
  type RowData,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import type { ReactNode } from 'react';
import './data-table.css';

const features = tableFeatures({});

type Column<Row extends RowData> = ColumnDef<typeof features, Row>;

/**
 * Returns TanStack's helper for the columns of `DataTable`. Call it outside of components: columns must be the same in
 * every render.
 */
export const columnsOf = <Row extends RowData>() => createColumnHelper<typeof features, Row>();

interface DataTableProps<Row extends RowData> {
  /** What the table lists; read by screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowId(row: Row): string;
  /** Shown instead of the table if there are no rows. */
  empty: ReactNode;
  /** Controls below the table, such as `PageButtons`. */
  footer?: ReactNode;
}

/** A table that scrolls sideways where it does not fit, also with the keyboard. Actions in its cells are buttons and links. */
export function DataTable<Row extends RowData>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowId, empty, footer } = props;
  const table = useTable({ features, columns: columns as Column<Row>[], data: rows, getRowId: rowId });
  if (rows.length === 0)
    return (
      <>
        <p className="empty">{empty}</p>
        {footer}
      </>
    );
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard (WCAG 2.1.1). */}
      <section className="table-region" aria-label={label} tabIndex={0}>
        <table className="table">
          <thead>
            {table.getHeaderGroups().map((group) => (
              <tr key={group.id}>
                {group.headers.map((header) => (
                  <th key={header.id} scope="col">
                    <table.FlexRender header={header} />
                  </th>
                ))}
              </tr>
            ))}
          </thead>
          <tbody>
            {table.getRowModel().rows.map((row) => (
              <tr key={row.id}>
                {row.getAllCells().map((cell) => (
                  <td key={cell.id}>
                    <table.FlexRender cell={cell} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {footer}
    </>
  );
}
