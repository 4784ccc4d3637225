import { Checkbox } from 'react-aria-components';
import { Link } from 'wouter';
import { textOf } from '../../../api/optional.ts';
import { Button } from '../../../components/button.tsx';
import { count } from '../../../components/inline/count.ts';
import { Drift } from '../../../components/inline/drift.tsx';
import { StatusBadge } from '../../../components/inline/status-badge.tsx';
import { Time } from '../../../components/inline/time.tsx';
import { columnsOf } from '../../../components/lists/data-table.tsx';
import { historyAddress, ofSecretAddress } from '../addresses.ts';
import type { AssociatedSecret } from '../association-api.ts';
import { useRowContext } from './row-context.ts';

const helper = columnsOf<AssociatedSecret>();

/** The columns of the associations of a destination. Below `RowContext`. */
export const columns = helper.columns([
  helper.display({
    id: 'select',
    header: SelectAll,
    cell: ({ row }) => <Selection object={row.original} />,
  }),
  helper.accessor('secret_name', {
    header: 'Secret',
    cell: ({ row }) => <SecretCell object={row.original} />,
  }),
  helper.accessor('sync_status', {
    header: 'Status',
    cell: ({ row }) => <StatusCell object={row.original} />,
  }),
  helper.accessor('drift', { header: 'In the store', cell: ({ row }) => <Drift seen={row.original} /> }),
  helper.accessor('external_name', {
    header: 'External secret',
    cell: ({ getValue }) => <code>{getValue()}</code>,
  }),
  helper.display({
    id: 'actions',
    header: () => <span className="visually-hidden">Actions</span>,
    cell: ({ row }) => <Actions object={row.original} />,
  }),
]);

function Selection({ object }: { object: AssociatedSecret }) {
  const { isSelected, select, mayRetry } = useRowContext();
  if (!mayRetry) return null;
  return (
    <SelectionBox
      label={`Select ${object.mount}/${object.secret_name}`}
      isSelected={isSelected(object)}
      onChange={(selected) => select([object], selected)}
    />
  );
}

function SelectAll() {
  const { shown, isSelected, select, mayRetry } = useRowContext();
  if (!mayRetry) return <span className="visually-hidden">Selection</span>;
  return (
    <SelectionBox
      label="Select all on this page"
      isSelected={shown.every(isSelected)}
      onChange={(selected) => select(shown, selected)}
    />
  );
}

interface SelectionBoxProps {
  label: string;
  isSelected: boolean;
  onChange(isSelected: boolean): void;
}

const SelectionBox = ({ label, ...rest }: SelectionBoxProps) => (
  <Checkbox {...rest} className="checkbox" aria-label={label}>
    <span className="checkbox-box" aria-hidden="true">
      ✓
    </span>
  </Checkbox>
);

const SecretCell = ({ object }: { object: AssociatedSecret }) => (
  <>
    <Link href={ofSecretAddress(object)}>
      {object.mount}/{object.secret_name}
    </Link>
    {object.sub_key && (
      <div className="soft">
        key <code>{object.sub_key}</code>
      </div>
    )}
  </>
);

function StatusCell({ object }: { object: AssociatedSecret }) {
  const next = textOf(object.next_attempt_at);
  return (
    <>
      <StatusBadge status={object.sync_status} />
      {textOf(object.last_error) && <div>{textOf(object.last_error)}</div>}
      <div className="soft">
        <Time at={object.updated_at} />
        {object.attempts > 0 && `, ${count(object.attempts, 'failed attempt')}`}
        {next && (
          <>
            , the next one <Time at={next} />
          </>
        )}
      </div>
    </>
  );
}

function Actions({ object }: { object: AssociatedSecret }) {
  const { destination, mayRetry, mayRemove, mayInspect, mayReadHistory, retry, inspect, remove } =
    useRowContext();
  const secret = `${object.mount}/${object.secret_name}`;
  return (
    <span className="row row-actions">
      {mayReadHistory && (
        <Link
          className="button"
          href={historyAddress(destination, object)}
          aria-label={`History of ${secret}`}
        >
          History
        </Link>
      )}
      {mayInspect && (
        <Button aria-label={`Inspect ${secret} now`} onPress={() => inspect(object)}>
          Inspect
        </Button>
      )}
      {mayRetry && (
        <Button aria-label={`Retry ${secret}`} onPress={() => retry(object)}>
          Retry
        </Button>
      )}
      {mayRemove && (
        <Button aria-label={`Remove ${secret}`} onPress={() => remove(object)}>
          Remove
        </Button>
      )}
    </span>
  );
}
