import { createContext, type ReactNode, useContext } from 'react';
import { CheckboxField } from '../../../../components/fields/checkbox-field.tsx';
import { StatusBadge } from '../../../../components/inline/status-badge.tsx';
import { Time } from '../../../../components/inline/time.tsx';
import { columnsOf, DataTable } from '../../../../components/lists/data-table.tsx';
import type { Version } from './version-state.ts';

interface Choice {
  chosen: readonly number[];
  onChoose(versions: readonly number[]): void;
}

const ChoiceContext = createContext<Choice>({ chosen: [], onChoose: () => undefined });

const helper = columnsOf<Version>();

const columns = helper.columns([
  helper.accessor('number', {
    header: 'Version',
    cell: ({ row }) => <Choose number={row.original.number} />,
  }),
  helper.accessor('state', {
    header: 'State',
    cell: ({ row }) => <StatusBadge status={row.original.state} />,
  }),
  helper.accessor('createdTime', {
    header: 'Written',
    cell: ({ row }) => <Time at={row.original.createdTime} />,
  }),
  helper.accessor('deletedAt', {
    header: 'Will be deleted',
    cell: ({ row: { original } }) => original.deletedAt && <Time at={original.deletedAt} />,
  }),
]);

function Choose({ number }: { number: number }) {
  const { chosen, onChoose } = useContext(ChoiceContext);
  return (
    <CheckboxField
      label={`Version ${number}`}
      isSelected={chosen.includes(number)}
      onChange={(isChosen) =>
        onChoose(isChosen ? [...chosen, number] : chosen.filter((other) => other !== number))
      }
    />
  );
}

/** The versions, each of which can be chosen. */
export const VersionTable = ({
  versions,
  footer,
  ...choice
}: Choice & { versions: readonly Version[]; footer: ReactNode }) => (
  <ChoiceContext value={choice}>
    <DataTable
      label="Versions of this secret"
      columns={columns}
      rows={versions}
      rowId={({ number }) => String(number)}
      empty="It has no versions."
      footer={footer}
    />
  </ChoiceContext>
);
