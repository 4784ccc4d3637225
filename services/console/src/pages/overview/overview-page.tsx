import { textOf } from '../../api/optional.ts';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { DestinationTable } from './destination-table.tsx';
import { HeldSyncing } from './held-syncing.tsx';
import { PausedLanes } from './paused-lanes.tsx';
import { lanesPath, nextOf, statusPath, useStatus } from './queries.ts';
import { QueueSummary } from './queue-summary.tsx';
import { SyncSwitch } from './sync-switch.tsx';
import { Throughput } from './throughput.tsx';
import { throughputPath } from './throughput-numbers.ts';

const paths = [statusPath, lanesPath, throughputPath];

/** Shows what is not synced, why and since when, and the switch that pauses synchronization. */
export function OverviewPage() {
  const { may, known } = usePermissions(paths);
  return (
    <>
      <PageHeader title="Overview">The state of synchronization in this namespace.</PageHeader>
      {known && !may('read', statusPath) ? (
        <NotAllowed what="This token may not see the sync status." capability="read" path={statusPath} />
      ) : (
        <SyncState />
      )}
      {may('read', lanesPath) && <PausedLanes />}
      {may('read', throughputPath) && <Throughput />}
    </>
  );
}

function SyncState() {
  const { may } = usePermissions(paths);
  const pages = usePages<string>();
  const { data, error, refetch } = useStatus(pages.after, may('read', statusPath));
  if (error && !data)
    return (
      <ProblemNotice title="The sync status could not be read." error={error} onRetry={() => refetch()} />
    );
  if (!data) return <Loading what="the sync status" />;
  const heldBecause = textOf(data.held_because);
  return (
    <div className="stack">
      {heldBecause !== undefined && <HeldSyncing because={heldBecause} />}
      <SyncSwitch disabled={data.disabled} pending={data.pending} />
      <QueueSummary status={data} />
      <h2>Destinations</h2>
      <DestinationTable
        destinations={Object.values(data.destinations)}
        footer={<PageButtons pages={pages} next={nextOf(data)} />}
      />
    </div>
  );
}
