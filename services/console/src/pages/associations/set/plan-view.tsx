import { textOf } from '../../../api/optional.ts';
import { count } from '../../../components/inline/count.ts';
import { columnsOf, DataTable } from '../../../components/lists/data-table.tsx';
import { PageButtons, usePages } from '../../../components/lists/pages.tsx';
import type { Plan, Planned } from './use-plan-and-set.ts';
import '../../../components/notice.css';

const changes: Readonly<Record<string, string>> = {
  new: 'created',
  kept: 'compared, and written if it differs',
  renamed: 'created in the place of an old one',
  removed: 'deleted',
};

const helper = columnsOf<Planned>();
const columns = helper.columns([
  helper.accessor('external_name', {
    header: 'External secret',
    cell: ({ row }) => <NameCell planned={row.original} />,
  }),
  helper.accessor('change', { header: 'Is', cell: ({ getValue }) => changes[getValue()] ?? getValue() }),
  helper.accessor('value_bytes', {
    header: 'Bytes',
    cell: ({ getValue }) => getValue().toLocaleString('en'),
  }),
]);

const NameCell = ({ planned: { external_name, replaces, sub_key, problems } }: { planned: Planned }) => (
  <>
    <code>{external_name}</code>
    {sub_key && <div className="soft">key {sub_key}</div>}
    {textOf(replaces) && (
      <div className="soft">
        replaces <code>{textOf(replaces)}</code>
      </div>
    )}
    {problems.map((problem) => (
      <div key={String(problem)} className="field-error">
        {String(problem)}
      </div>
    ))}
  </>
);

const pageSize = 20;

/** Shows what setting the association would do with each external secret, and the problems that prevent it. */
export function PlanView({ plan }: { plan: Plan }) {
  const pages = usePages<number>();
  const start = pages.after ?? 0;
  const end = start + pageSize;
  const { external_secrets: planned = [], problems = [], accepted, associated } = plan;
  return (
    <section className="stack" aria-label="Plan">
      <p role="status">
        {associated ? 'The secret is associated already. ' : ''}
        {count(planned.length, 'external secret')}:
      </p>
      <DataTable
        label="Planned external secrets"
        columns={columns}
        rows={planned.slice(start, end)}
        rowId={({ sub_key, external_name }) => `${sub_key} ${external_name}`}
        empty="There would be none."
        footer={<PageButtons pages={pages} next={end < planned.length ? end : undefined} />}
      />
      {(problems.length > 0 || !accepted) && (
        <div className="notice notice-bad" role="alert">
          <p>
            <strong>{accepted ? 'It would be accepted, but:' : 'It would be refused:'}</strong>
          </p>
          {problems.map((problem) => (
            <p key={String(problem)}>{String(problem)}</p>
          ))}
        </div>
      )}
    </section>
  );
}
