import { useRef } from 'react';
import { numberOf, textOf } from '../../../api/optional.ts';
import { count } from '../../../components/inline/count.ts';
import { Time } from '../../../components/inline/time.tsx';
import type { Destination } from '../destination-api.ts';
import '../../../components/notice.css';

/** docs/conventions/sync-operation.md#work-on-whole-destinations */
const works = [
  {
    work: 'purge',
    title: 'Everything is being unsynced, and then the destination is deleted',
    of: 'association',
  },
  { work: 'retry', title: 'What has failed is being sent again', of: 'failed external secret' },
  { work: 'push', title: 'Changed settings are being sent to the external secrets', of: 'external secret' },
  { work: 'replan', title: 'The names are being changed to the current template', of: 'association' },
  { work: 'inspect', title: 'The external secrets are being looked at', of: 'external secret' },
] as const;

/** The work on the whole destination that is in progress, and why it does not advance or what it has left out. */
export function WorkProgress({ destination }: { destination: Destination }) {
  const backgroundError = textOf(destination.background_error);
  const refused = numberOf(destination.replan_refused);
  return (
    <>
      {works.map(
        (work) =>
          textOf(destination[`${work.work}_initiated_at`]) && (
            <Progress key={work.work} {...work} destination={destination} />
          ),
      )}
      {backgroundError && (
        <p className="notice notice-bad">The last step failed, and is tried again: {backgroundError}</p>
      )}
      {refused !== undefined && refused > 0 && (
        <p className="notice notice-bad">
          The last replan left {count(refused, 'association')} unchanged. The last reason:{' '}
          {textOf(destination.replan_error)}
        </p>
      )}
    </>
  );
}

interface ProgressProps {
  work: (typeof works)[number]['work'];
  title: string;
  of: string;
  destination: Destination;
}

function Progress({ work, title, of, destination }: ProgressProps) {
  const remaining = numberOf(destination[`${work}_remaining`]) ?? 0;
  const most = useRef(remaining);
  most.current = Math.max(most.current, remaining);
  const since = textOf(destination[`${work}_initiated_at`]);
  const error = textOf(destination[`${work}_error`]);
  return (
    <div className="notice notice-busy" role="status">
      <p>
        <strong>{title}.</strong> {count(remaining, of)} left
        {since && (
          <>
            , begun <Time at={since} />
          </>
        )}
        .
      </p>
      <progress aria-label={title} max={Math.max(1, most.current)} value={most.current - remaining} />
      {error && work !== 'replan' && <p>{error}</p>}
    </div>
  );
}
