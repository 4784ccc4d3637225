import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { StatusBadge } from '../../components/inline/status-badge.tsx';
import { columnsOf, DataTable } from '../../components/lists/data-table.tsx';
import type { DestinationRef } from '../destinations/destination-api.ts';
import { type Rule, ruleAddress, useRules } from './rule-api.ts';

interface Row {
  destination: DestinationRef;
  name: string;
  /** Undefined while it is being read, and if it cannot be. */
  rule: Rule | undefined;
  error: Error | null;
}

/** A number of a rule; nothing before it is known. */
const Count = ({ of }: { of: number | null | undefined }) => <>{of?.toLocaleString('en') ?? ''}</>;

const helper = columnsOf<Row>();
const columns = helper.columns([
  helper.accessor('name', { header: 'Rule', cell: ({ row }) => <NameCell row={row.original} /> }),
  helper.display({ id: 'state', header: 'State', cell: ({ row }) => <StateCell row={row.original} /> }),
  helper.display({
    id: 'matched',
    header: 'Matched',
    cell: ({ row }) => <Count of={row.original.rule?.matched} />,
  }),
  helper.display({
    id: 'associated',
    header: 'Associated',
    cell: ({ row }) => <Count of={row.original.rule?.associated} />,
  }),
  helper.display({
    id: 'refused',
    header: 'Refused',
    cell: ({ row }) => <Count of={row.original.rule?.refused} />,
  }),
]);

const NameCell = ({ row: { destination, name, rule } }: { row: Row }) => (
  <>
    <Link href={ruleAddress({ ...destination, rule: name })}>{name}</Link>
    {rule && (
      <div className="soft">
        <code>
          {rule.mount}/{rule.path}
        </code>
      </div>
    )}
  </>
);

function StateCell({ row: { rule, error } }: { row: Row }) {
  if (rule === undefined) return <span className="soft">{error ? `not read: ${error.message}` : '…'}</span>;
  return (
    <>
      <StatusBadge status={rule.state} />
      {rule.error && <div>{rule.error}</div>}
    </>
  );
}

interface RuleTableProps {
  destination: DestinationRef;
  names: readonly string[];
  footer: ReactNode;
}

/** Rules with their state and their numbers, each of which is read for itself. */
export function RuleTable({ destination, names, footer }: RuleTableProps) {
  const read = useRules(destination, names);
  const rows = names.map((name, at) => ({
    destination,
    name,
    rule: read[at]?.data,
    error: read[at]?.error ?? null,
  }));
  return (
    <DataTable
      label="Rules"
      columns={columns}
      rows={rows}
      rowId={({ name }) => name}
      empty="This destination has no rules. Secrets are associated one by one, or with a rule."
      footer={footer}
    />
  );
}
