import { numberOf } from '../../api/optional.ts';
import { duration } from '../../components/inline/time.tsx';
import type { SyncStatus } from './queries.ts';
import './overview.css';

/** Figures about the work that is not done: of the installation, and of the destinations on this page. */
export function QueueSummary({ status }: { status: SyncStatus }) {
  const queues = Object.values(status.destinations).map(({ queue }) => queue);
  const due = queues.reduce((sum, queue) => sum + queue.due, 0);
  const oldest = Math.max(0, ...queues.map((queue) => numberOf(queue.oldest_due_seconds) ?? 0));
  return (
    <dl className="figures">
      <Figure
        label="Pending in all namespaces"
        value={status.pending.toLocaleString('en')}
        note={`of ${status.queue_capacity.toLocaleString('en')} that the queue takes`}
      />
      <Figure
        label="Due now, shown destinations"
        value={due.toLocaleString('en')}
        note="wait for the end of a pause, or for their turn"
      />
      <Figure
        label="Oldest due work"
        value={oldest === 0 ? 'none' : duration(oldest)}
        note="since it could have been sent"
      />
    </dl>
  );
}

const Figure = ({ label, value, note }: { label: string; value: string; note: string }) => (
  <div className="card figure">
    <dt>{label}</dt>
    <dd>
      <strong>{value}</strong>
      <span className="soft"> {note}</span>
    </dd>
  </div>
);
