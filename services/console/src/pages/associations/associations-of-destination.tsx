import { useMemo, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/fields/select-field.tsx';
import { driftKinds } from '../../components/inline/drift.tsx';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import { Loading } from '../../components/loading.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { type DestinationRef, destinationPath } from '../destinations/destination-api.ts';
import { type AssociationFilter, useOfDestination } from './association-api.ts';
import { SetDialog } from './set/set-dialog.tsx';
import { AssociationTable } from './table/association-table.tsx';

const errors = 'CLIENT_SIDE_ERROR,EXTERNAL_SERVICE_ERROR,INTERNAL_SERVICE_ERROR';

const statuses = [
  { value: '', label: 'All' },
  { value: errors, label: 'With an error' },
  ...['PENDING', 'SYNCED', 'UNSYNCED', ...errors.split(',')].map((status) => ({
    value: status,
    label: status,
  })),
];

const drifts = [
  { value: '', label: 'All' },
  { value: driftKinds.join(), label: 'Drifted' },
  ...driftKinds.map((kind) => ({ value: kind, label: kind })),
];

/** The associations of a destination, by status and drift, and what can be done with them. */
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
  const [filter, setFilter] = useState<AssociationFilter>({ status: '', drift: '' });
  const { data, error, refetch } = useOfDestination(destination, filter, pages.after, true);
  const change = (chosen: Partial<AssociationFilter>) => {
    setFilter({ ...filter, ...chosen });
    pages.reset();
  };
  return (
    <>
      <div className="row">
        <SelectField
          label="Status"
          value={filter.status}
          choices={statuses}
          onChange={(status) => change({ status })}
        />
        <SelectField
          label="In the store"
          value={filter.drift}
          choices={drifts}
          onChange={(drift) => change({ drift })}
        />
      </div>
      {error && (
        <ProblemNotice title="The associations could not be read." error={error} onRetry={() => refetch()} />
      )}
      {!data && !error && <Loading what="the associations" />}
      {data && (
        <AssociationTable
          destination={destination}
          objects={data.objects}
          empty={emptyText(filter)}
          footer={<PageButtons pages={pages} next={data.next} />}
        />
      )}
    </>
  );
}

function emptyText({ status, drift }: AssociationFilter): string {
  if (status === '' && drift === '') return 'No secret is associated with this destination.';
  return drift === ''
    ? 'None has this status.'
    : 'No external secret with this status has drifted like this.';
}
