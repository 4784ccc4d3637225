import { useMemo, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/fields/select-field.tsx';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import { Loading } from '../../components/loading.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { type DestinationRef, destinationPath } from '../destinations/destination-api.ts';
import { useOfDestination } from './association-api.ts';
import { SetDialog } from './set/set-dialog.tsx';
import { AssociationTable } from './table/association-table.tsx';

const errors = 'CLIENT_SIDE_ERROR,EXTERNAL_SERVICE_ERROR,INTERNAL_SERVICE_ERROR';

const filters = [
  { value: '', label: 'All' },
  { value: errors, label: 'With an error' },
  ...['PENDING', 'SYNCED', 'UNSYNCED', ...errors.split(',')].map((status) => ({
    value: status,
    label: status,
  })),
];

/** The associations of a destination, by status, and what can be done with them. */
export function AssociationsOfDestination({ destination }: { destination: DestinationRef }) {
  const path = destinationPath(destination, 'associations');
  const paths = useMemo(() => [path, `${path}/set`, `${path}/plan`], [path]);
  const { may, known } = usePermissions(paths);
  const [asksToSet, setAsksToSet] = useState(false);
  return (
    <section className="stack" aria-labelledby="associations">
      <div className="page-header">
        <h2 id="associations">Associations</h2>
        {may('update', `${path}/set`) && may('update', `${path}/plan`) && (
          <Button kind="primary" onPress={() => setAsksToSet(true)}>
            Associate a secret
          </Button>
        )}
      </div>
      {known && !may('read', path) && (
        <NotAllowed what="This token may not read the associations." capability="read" path={path} />
      )}
      {may('read', path) && <FilteredAssociations destination={destination} />}
      {asksToSet && <SetDialog destination={destination} onClose={() => setAsksToSet(false)} />}
    </section>
  );
}

function FilteredAssociations({ destination }: { destination: DestinationRef }) {
  const pages = usePages<string>();
  const [status, setStatus] = useState('');
  const { data, error, refetch } = useOfDestination(destination, status, pages.after, true);
  const filter = (chosen: string) => {
    setStatus(chosen);
    pages.reset();
  };
  return (
    <>
      <SelectField label="Status" value={status} choices={filters} onChange={filter} />
      {error && (
        <ProblemNotice title="The associations could not be read." error={error} onRetry={() => refetch()} />
      )}
      {!data && !error && <Loading what="the associations" />}
      {data && (
        <AssociationTable
          destination={destination}
          objects={data.objects}
          empty={status === '' ? 'No secret is associated with this destination.' : 'None has this status.'}
          footer={<PageButtons pages={pages} next={data.next} />}
        />
      )}
    </>
  );
}
