import { useMemo } from 'react';
import { Link, useParams } from 'wouter';
import { PageButtons, usePages } from '../../components/lists/pages.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NotAllowed, ProblemNotice } from '../../components/problem-notice.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { type DestinationRef, destinationAddress, destinationPath } from '../destinations/destination-api.ts';
import { newRuleAddress, useRuleNames } from './rule-api.ts';
import { RuleTable } from './rule-table.tsx';

/** The rules of a destination: each associates every secret that it matches. */
export function RulesPage() {
  const { type = '', name = '' } = useParams();
  const destination = useMemo(() => ({ type, name }), [type, name]);
  const path = destinationPath(destination, 'rules');
  const anyRule = `${path}/any`;
  const { may, known } = usePermissions([path, anyRule]);
  return (
    <>
      <PageHeader
        title={`Rules of ${name}`}
        actions={
          (may('create', anyRule) || may('update', anyRule)) && (
            <Link href={newRuleAddress(destination)} className="button button-primary">
              New rule
            </Link>
          )
        }
      >
        A rule associates every secret that it matches, also those that are created later.
      </PageHeader>
      <div className="stack">
        {may('list', path) && <Rules destination={destination} />}
        {known && !may('list', path) && (
          <NotAllowed what="This token may not list the rules." capability="list" path={path} />
        )}
        <p>
          <Link href={destinationAddress(destination)}>Back to the destination</Link>
        </p>
      </div>
    </>
  );
}

function Rules({ destination }: { destination: DestinationRef }) {
  const pages = usePages<string>();
  const { data, error, refetch } = useRuleNames(destination, pages.after);
  if (error && !data)
    return <ProblemNotice title="The rules could not be read." error={error} onRetry={() => refetch()} />;
  if (!data) return <Loading what="the rules" />;
  return (
    <RuleTable
      destination={destination}
      names={data.names}
      footer={<PageButtons pages={pages} next={data.next} />}
    />
  );
}
