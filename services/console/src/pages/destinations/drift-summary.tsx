import { textOf } from '../../api/optional.ts';
import { DriftCounts, driftCounts } from '../../components/inline/drift.tsx';
import { Time } from '../../components/inline/time.tsx';
import type { Destination } from './destination-api.ts';

/** The number of external secrets that somebody else has changed, and since when everything was looked at. */
export function DriftSummary({ destination }: { destination: Destination }) {
  const counts = driftCounts(destination.drifted);
  const inspectedAt = textOf(destination.inspected_at);
  const policy = textOf((destination.options as Record<string, unknown>).drift_policy) ?? 'report';
  return (
    <section className="card" aria-labelledby="drift">
      <h2 id="drift">Drift</h2>
      {counts.length === 0 ? (
        <p>No external secret is known to have been changed by somebody else.</p>
      ) : (
        <DriftCounts counts={counts} />
      )}
      <p className="soft">
        {inspectedAt ? (
          <>
            Everything was looked at since <Time at={inspectedAt} />.
          </>
        ) : (
          'Not everything has been looked at yet.'
        )}{' '}
        {policies[policy]}
      </p>
    </section>
  );
}

/** Consequences of each `drift_policy` (docs/conventions/drift.md). */
const policies: Readonly<Record<string, string>> = {
  report: 'What has drifted is reported, and stays as it is until it is retried.',
  repair: 'What was changed or deleted is pushed again.',
  off: 'Nothing is looked at without a request.',
};
