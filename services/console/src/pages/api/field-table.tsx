import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import { type Schema, typeOf } from './operations.ts';

interface Field {
  name: string;
  /** Such as where a parameter belongs. */
  note: string | undefined;
  schema: Schema;
  isRequired: boolean;
}

const helper = columnsOf<Field>();

const columns = helper.columns([
  helper.accessor('name', {
    header: 'Name',
    cell: ({ row: { original } }) => (
      <>
        <code>{original.name}</code> {original.isRequired && <span className="soft">required</span>}
        {original.note && <div className="soft">{original.note}</div>}
      </>
    ),
  }),
  helper.accessor('schema', {
    header: 'Type',
    cell: ({ row: { original } }) => (
      <>
        {typeOf(original.schema)}
        {original.schema.description && original.schema.description !== original.name && (
          <div className="soft">{original.schema.description}</div>
        )}
      </>
    ),
  }),
]);

/** Fields with their types; nothing if there are none. */
export const FieldTable = ({ title, fields }: { title: string; fields: readonly Field[] }) =>
  fields.length === 0 ? null : (
    <>
      <h2>{title}</h2>
      <DataTable
        label={title}
        columns={columns}
        rows={fields}
        rowId={({ name, note }) => `${note} ${name}`}
        empty="None."
      />
    </>
  );
