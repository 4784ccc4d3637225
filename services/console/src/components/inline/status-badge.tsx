import './status-badge.css';

type Tone = 'good' | 'busy' | 'bad' | 'idle';

/**
 * docs/conventions/sync.md#status-values, the states of destinations and lanes
 * (docs/conventions/sync-operation.md#operators-view) and rules (docs/conventions/rules.md#progress), and kinds of drift
 * (docs/conventions/drift.md#states).
 */
const tones: Readonly<Record<string, Tone>> = {
  SYNCED: 'good',
  PENDING: 'busy',
  UNSYNCED: 'idle',
  CLIENT_SIDE_ERROR: 'bad',
  EXTERNAL_SERVICE_ERROR: 'bad',
  INTERNAL_SERVICE_ERROR: 'bad',
  open: 'good',
  slow: 'busy',
  probing: 'busy',
  paused: 'bad',
  ok: 'good',
  failed: 'bad',
  readable: 'good',
  deleted: 'idle',
  destroyed: 'bad',
  changed: 'bad',
  missing: 'bad',
  foreign: 'bad',
  contested: 'bad',
  running: 'busy',
  up_to_date: 'good',
  deleting: 'busy',
};

/** A status in its own word, with a colour and a shape, so that neither the colour nor the shape is needed to read it. */
export function StatusBadge({ status, count }: { status: string; count?: number | undefined }) {
  return (
    <span className={`badge badge-${tones[status] ?? 'idle'}`}>
      {count !== undefined && <strong>{atLeast(count)}</strong>} {status}
    </span>
  );
}

/** Where the service stops counting (docs/adr/0014-bounded-status.md). */
const maxCount = 10_000;

const atLeast = (count: number): string => `${count.toLocaleString('en')}${count < maxCount ? '' : '+'}`;
