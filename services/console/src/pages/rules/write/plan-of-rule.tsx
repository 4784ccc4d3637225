import { useState } from 'react';
import { count } from '../../../components/inline/count.ts';
import { columnsOf, DataTable } from '../../../components/lists/data-table.tsx';
import { PageButtons, usePages } from '../../../components/lists/pages.tsx';
import { ProblemNotice } from '../../../components/problem-notice.tsx';
import type { RuleRef } from '../rule-api.ts';
import { type PlannedMatch, type PlanPage, usePlan, useReleases } from '../rule-plan.ts';
import type { RuleFields } from './rule-values.ts';
import '../../../components/notice.css';

const changes: Readonly<Record<string, string>> = {
  associated: 'associated',
  held: 'associated already, and then held by the rule as well',
  kept: 'held by the rule already',
};

const helper = columnsOf<PlannedMatch>();
const columns = helper.columns([
  helper.accessor('secret_name', { header: 'Secret' }),
  helper.display({
    id: 'change',
    header: 'Is',
    cell: ({ row: { original } }) => <ChangeCell match={original} />,
  }),
  helper.display({
    id: 'names',
    header: 'External secrets',
    cell: ({ row: { original } }) => <NamesCell match={original} />,
  }),
]);

const ChangeCell = ({ match: { change, accepted, problems } }: { match: PlannedMatch }) => (
  <>
    {accepted ? (changes[change] ?? change) : 'refused'}
    {problems.map((problem) => (
      <div key={problem} className="field-error">
        {problem}
      </div>
    ))}
  </>
);

const maxNames = 5;

const NamesCell = ({ match: { external_secrets: planned } }: { match: PlannedMatch }) => (
  <>
    {planned.slice(0, maxNames).map(({ sub_key, external_name, problems }) => (
      <div key={`${sub_key} ${external_name}`}>
        <code>{external_name}</code>
        {problems.map((problem) => (
          <div key={problem} className="field-error">
            {problem}
          </div>
        ))}
      </div>
    ))}
    {planned.length > maxNames && <div className="soft">and {count(planned.length - maxNames, 'other')}</div>}
  </>
);

interface PlanOfRuleProps {
  target: RuleRef;
  fields: RuleFields;
  first: PlanPage;
}

/** Shows what saving a rule would do: numbers, names, what would be refused, and which associations would end. */
export function PlanOfRule({ target, fields, first }: PlanOfRuleProps) {
  const pages = usePages<string>();
  const { data = first, error } = usePlan(target, fields, pages.after);
  const [showsReleases, setShowsReleases] = useState(false);
  return (
    <section className="stack" aria-label="Plan">
      <Numbers plan={first} />
      {first.error && <p className="notice notice-bad">{first.error}</p>}
      {error && <ProblemNotice title="This page of the plan could not be read." error={error} />}
      <DataTable
        label="Matching secrets"
        columns={columns}
        rows={data.secrets}
        rowId={({ secret_name }) => secret_name}
        empty="No secret matches now. Those that are created later would be associated."
        footer={<PageButtons pages={pages} next={data.next} />}
      />
      {(first.to_release ?? 0) > 0 && (
        <details className="card" onToggle={({ currentTarget }) => setShowsReleases(currentTarget.open)}>
          <summary>The associations that end</summary>
          {showsReleases && <Releases target={target} fields={fields} />}
        </details>
      )}
    </section>
  );
}

function Numbers({ plan }: { plan: PlanPage }) {
  const { matched = 0, to_associate: associated = 0, to_hold: held = 0, to_release: released = 0 } = plan;
  const atLeast = plan.complete === false ? 'At least ' : '';
  return (
    <div role="status" className="stack">
      <p>
        {atLeast}
        {count(matched, 'secret')} matched: {associated.toLocaleString('en')} would be associated
        {held > 0 && `, ${held.toLocaleString('en')} that are associated already would be held as well`}.
      </p>
      {released > 0 && (
        <p className="notice notice-bad">
          {atLeast}
          {count(released, 'association')} would end, and the external secrets be deleted from the store. If
          they are many, they are held until an operator confirms them.
        </p>
      )}
    </div>
  );
}

function Releases({ target, fields }: Omit<PlanOfRuleProps, 'first'>) {
  const pages = usePages<string>();
  const { data, error } = useReleases(target, fields, pages.after);
  if (error) return <ProblemNotice title="They could not be read." error={error} />;
  return (
    <>
      <ul>
        {data?.released.map(({ mount, secret_name: name }) => (
          <li key={`${mount}\n${name}`}>
            {mount}/{name}
          </li>
        ))}
      </ul>
      <PageButtons pages={pages} next={data?.next} />
    </>
  );
}
