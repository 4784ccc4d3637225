import type { LiveState } from './follow-events.ts';
import { useLiveState } from './live-updates.tsx';
import './live-badge.css';

const words: Record<LiveState, string> = {
  connecting: 'connecting',
  live: 'live',
  reconnecting: 'reconnecting',
  refused: 'not live',
};

const explanations: Record<LiveState, string> = {
  connecting: 'Connecting to the events of this namespace.',
  live: 'Changes are shown as they happen.',
  reconnecting: 'The connection broke. Until it is back, the numbers are read every few seconds.',
  refused: 'This token may not read sys/sync/events. The numbers are read every few seconds.',
};

/** Says whether the page follows what happens. */
export function LiveBadge() {
  const state = useLiveState();
  return (
    <span className={`live live-${state}`} role="status" title={explanations[state]}>
      {words[state]}
    </span>
  );
}
