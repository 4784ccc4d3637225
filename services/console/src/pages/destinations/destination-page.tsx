import { useMemo } from 'react';
import { Link, useParams } from 'wouter';
import { textOf } from '../../api/optional.ts';
import { isAbsent } from '../../api/problem.ts';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { AssociationsOfDestination } from '../associations/associations-of-destination.tsx';
import { HeldSyncing } from '../overview/held-syncing.tsx';
import { rulesAddress } from '../rules/rule-api.ts';
import { DestinationActions } from './actions/destination-actions.tsx';
import { HeldRemovals } from './actions/held-removals.tsx';
import { HeldRepairs } from './actions/held-repairs.tsx';
import { WorkProgress } from './actions/work-progress.tsx';
import {
  type DestinationRef,
  destinationAddress,
  destinationPath,
  useDestination,
} from './destination-api.ts';
import { DestinationSettings } from './destination-settings.tsx';
import { DriftSummary } from './drift-summary.tsx';
import { typeNames } from './form/destination-types.ts';

/** One destination: its settings, what can be done with it, and its associations. */
export function DestinationPage() {
  const { type = '', name = '' } = useParams();
  const ref = useMemo(() => ({ type, name }), [type, name]);
  const path = destinationPath(ref);
  const rules = `${path}/rules`;
  const { may, known } = usePermissions([path, rules]);
  return (
    <>
      <PageHeader
        title={name}
        actions={
          <>
            {may('list', rules) && (
              <Link href={rulesAddress(ref)} className="button">
                Rules
              </Link>
            )}
            {may('patch', path) && (
              <Link href={destinationAddress(ref, 'edit')} className="button">
                Edit
              </Link>
            )}
          </>
        }
      >
        {type} · {typeNames[type]}
      </PageHeader>
      <div className="stack">
        {may('read', path) && <DestinationState destination={ref} />}
        {known && !may('read', path) && (
          <NotAllowed what="This token may not read the destination." capability="read" path={path} />
        )}
        <AssociationsOfDestination destination={ref} />
      </div>
    </>
  );
}

function DestinationState({ destination: ref }: { destination: DestinationRef }) {
  const { data, error, refetch } = useDestination(ref);
  if (isAbsent(error)) return <p className="notice">This destination does not exist.</p>;
  if (error && !data)
    return (
      <ProblemNotice title="The destination could not be read." error={error} onRetry={() => refetch()} />
    );
  if (!data) return <Loading what="the destination" />;
  const heldBecause = textOf(data.held_because);
  return (
    <>
      {heldBecause !== undefined && <HeldSyncing because={heldBecause} />}
      <WorkProgress destination={data} />
      <HeldRemovals destination={data} target={ref} />
      <HeldRepairs destination={data} target={ref} />
      <DestinationActions target={ref} />
      <DriftSummary destination={data} />
      <DestinationSettings destination={data} />
    </>
  );
}
