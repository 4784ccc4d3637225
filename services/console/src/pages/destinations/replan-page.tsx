import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog, runs } from '../../components/confirm-dialog.tsx';
import { count } from '../../components/inline/count.ts';
import { PageHeader } from '../../components/page-header.tsx';
import { ProblemNotice } from '../../components/problem-notice.tsx';
import { useApi } from '../../session/session.ts';
import { useAction } from './actions/use-action.ts';
import { type DestinationRef, destinationAddress } from './destination-api.ts';
import { ReplanChanges } from './replan-changes.tsx';
import { previewReplan, type ReplanChange, type ReplanPreview } from './replan-preview.ts';

/** Shows what a replan would change, and then does it. */
export function ReplanPage() {
  const { type = '', name = '' } = useParams();
  const ref = { type, name };
  const api = useApi();
  const [looked, setLooked] = useState(0);
  const { data, error, refetch } = useQuery({
    queryKey: ['sync', 'destinations', 'replan', type, name],
    queryFn: () => previewReplan(api, ref, setLooked),
    gcTime: 0,
  });
  return (
    <>
      <PageHeader title={`Replan ${name}`}>
        Associations keep the template and granularity that they were set with. A replan applies the current
        ones of the destination to all of them.
      </PageHeader>
      <div className="stack">
        {error && (
          <ProblemNotice title="The changes could not be read." error={error} onRetry={() => refetch()} />
        )}
        {!data && !error && (
          <p role="status">
            Comparing the associations… {looked > 0 && `${looked.toLocaleString('en')} so far`}
          </p>
        )}
        {data && <Preview target={ref} preview={data} />}
        <Link href={destinationAddress(ref)}>Back to the destination</Link>
      </div>
    </>
  );
}

function Preview({ target, preview }: { target: DestinationRef; preview: ReplanPreview }) {
  const [asks, setAsks] = useState(false);
  const [, navigate] = useLocation();
  const replan = useAction(
    (api) =>
      api.POST('/v1/sys/sync/destinations/{type}/{name}/replan', { params: { path: target }, body: {} }),
    () => navigate(destinationAddress(target)),
  );
  const summary = summaryOf(preview);
  return (
    <>
      <p>{summary}</p>
      <ReplanChanges changes={preview.changes} />
      {preview.changes.length > 0 && (
        <div>
          <Button kind="primary" onPress={() => setAsks(true)}>
            Replan
          </Button>
        </div>
      )}
      {asks && (
        <ConfirmDialog
          title={`Replan ${target.name}?`}
          action="Replan"
          isDangerous
          {...runs(replan)}
          onCancel={() => setAsks(false)}
        >
          <p>{summary}</p>
          <p>
            New external secrets are created first; the old ones are deleted when the new ones are synced.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

function summaryOf({ changes, isCut }: ReplanPreview): string {
  const sum = (of: (change: ReplanChange) => number) =>
    changes.reduce((total, change) => total + of(change), 0);
  if (changes.length === 0 && !isCut)
    return 'Nothing would change: every association already has the current names.';
  const created = count(
    sum(({ create }) => create.length),
    'external secret',
  );
  const deleted = sum(({ remove }) => remove.length).toLocaleString('en');
  const left = count(
    sum(({ refused }) => (refused === undefined ? 0 : 1)),
    'association',
  );
  const counted = `${created} would be created and ${deleted} deleted; ${left} would be left unchanged.`;
  return isCut ? `Of the first 5,000 associations: ${counted}` : counted;
}
