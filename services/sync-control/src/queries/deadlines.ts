import { type DeadlineTable, due, happened, lease } from '@secrets/clock';
import { sealDeadlines } from '@secrets/seal-rotation';
import { entryDeadlines } from '@secrets/sync-entries';

const past = happened('sync');

/** Every column of this schema with times that work waits for, or that are compared with others. */
export const deadlines: readonly DeadlineTable[] = [
  ...entryDeadlines,
  {
    name: 'sync.destinations',
    key: ['id', 'uuid'],
    columns: {
      replan_leased_until: lease,
      purge_ended_at: past,
      retry_initiated_at: past,
      scope_confirmed_at: past,
    },
  },
  { name: 'sync.reconciliation', key: ['id', 'boolean'], columns: { leased_until: lease, started_at: past } },
  { name: 'sync.associations', key: ['id', 'uuid'], columns: { source_gone_at: past } },
  {
    name: 'sync.removal_brakes',
    key: ['destination_id', 'uuid'],
    columns: { window_started_at: past, approved_at: past },
  },
  { name: 'sync.imports', key: ['destination_id', 'uuid'], columns: { due_at: due } },
  { name: 'sync.rules', key: ['id', 'uuid'], columns: { due_at: due } },
  { name: 'sync.rule_refusals', key: ['id', 'uuid'], columns: { due_at: due } },
  ...sealDeadlines('sync'),
];
