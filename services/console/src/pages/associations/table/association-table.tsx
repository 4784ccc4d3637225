import { type ReactNode, useMemo, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/lists/data-table.tsx';
import { usePermissions } from '../../../session/permissions.ts';
import { type DestinationRef, destinationPath } from '../../destinations/destination-api.ts';
import { type AssociatedSecret, type SecretRef, secretId } from '../association-api.ts';
import { columns } from './association-columns.tsx';
import { InspectDialog } from './inspect-dialog.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { RetryDialog } from './retry-dialog.tsx';
import { RowContext } from './row-context.ts';

interface AssociationTableProps {
  destination: DestinationRef;
  objects: readonly AssociatedSecret[];
  empty: string;
  footer: ReactNode;
}

/** The association objects of a page, with what the token may do with them. */
export function AssociationTable({ destination, objects, empty, footer }: AssociationTableProps) {
  const allowed = useAllowed(destination);
  const [selected, setSelected] = useState<ReadonlyMap<string, SecretRef>>(new Map());
  const [retried, setRetried] = useState<readonly SecretRef[]>([]);
  const [inspected, setInspected] = useState<SecretRef>();
  const [removed, setRemoved] = useState<SecretRef>();
  const select = (secrets: readonly SecretRef[], isSelected: boolean) => {
    const changed = new Map(selected);
    for (const secret of secrets) {
      if (isSelected) changed.set(secretId(secret), refOf(secret));
      else changed.delete(secretId(secret));
    }
    setSelected(changed);
  };
  const context = {
    destination,
    ...allowed,
    shown: objects,
    isSelected: (secret: SecretRef) => selected.has(secretId(secret)),
    select,
    retry: (secret: SecretRef) => setRetried([refOf(secret)]),
    inspect: (secret: SecretRef) => setInspected(refOf(secret)),
    remove: (secret: SecretRef) => setRemoved(refOf(secret)),
  };
  return (
    <RowContext value={context}>
      {allowed.mayRetry && selected.size > 0 && (
        <div className="row">
          <Button onPress={() => setRetried([...selected.values()])}>
            Retry {selected.size.toLocaleString('en')} selected
          </Button>
          <Button onPress={() => setSelected(new Map())}>Clear the selection</Button>
        </div>
      )}
      <DataTable
        label="Associations by status"
        columns={columns}
        rows={objects}
        rowId={(object) => `${secretId(object)}\n${object.sub_key}\n${object.external_name}`}
        empty={empty}
        footer={footer}
      />
      {retried.length > 0 && (
        <RetryDialog destination={destination} secrets={retried} onClose={() => setRetried([])} />
      )}
      {inspected && (
        <InspectDialog destination={destination} secret={inspected} onClose={() => setInspected(undefined)} />
      )}
      {removed && (
        <RemoveDialog destination={destination} secret={removed} onClose={() => setRemoved(undefined)} />
      )}
    </RowContext>
  );
}

const refOf = ({ mount, secret_name }: SecretRef): SecretRef => ({ mount, secret_name });

function useAllowed(destination: DestinationRef) {
  const path = destinationPath(destination, 'associations');
  const inspection = destinationPath(destination, 'inspect');
  const paths = useMemo(
    () => [`${path}/set`, inspection, `${path}/remove`, `${path}/history`],
    [path, inspection],
  );
  const { may } = usePermissions(paths);
  return {
    mayRetry: may('update', `${path}/set`),
    mayInspect: may('update', inspection),
    mayRemove: may('update', `${path}/remove`),
    mayReadHistory: may('read', `${path}/history`),
  };
}
