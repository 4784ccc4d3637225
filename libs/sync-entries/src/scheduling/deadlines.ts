import { type DeadlineTable, due, happened, lease } from '@secrets/clock';

const past = happened('sync');

/** An entry that a worker holds is due again when its lease ends. */
const afterLease = `case when lease_until > now() then least(lease_until, ${lease.limit}) else now() end`;

/** Times in the tables of this package that work waits for, or that are compared with others. */
export const entryDeadlines: readonly DeadlineTable[] = [
  {
    name: 'sync.lanes',
    key: ['id', 'uuid'],
    columns: { paused_until: due, refilled_at: past, served_at: past },
  },
  {
    name: 'sync.destination_health',
    key: ['destination_id', 'uuid'],
    columns: { paused_until: due, slow_until: due },
  },
  { name: 'sync.installation', key: ['id', 'boolean'], columns: { alive_at: past, confirmed_at: past } },
  { name: 'sync.workers', key: ['id', 'text'], columns: { seen_at: past } },
  {
    name: 'sync.entries',
    key: ['id', 'uuid'],
    columns: {
      lease_until: lease,
      due_at: { limit: afterLease, set: afterLease },
      next_attempt_at: due,
      put_started_at: past, // compared with `scope_confirmed_at`, as is the next one
      synced_at: past,
      requested_at: past,
      removal_requested_at: past, // compared with `purge_ended_at`
      updated_at: past, // compared with `retry_initiated_at`
    },
  },
  {
    name: 'sync.inspections',
    key: ['destination_id', 'uuid'],
    columns: {
      due_at: due,
      requested_at: past,
      round_started_at: past,
      inspected_at: past, // compared with `confirmed_at`
    },
  },
  {
    name: 'sync.destination_checks',
    key: ['id', 'uuid'],
    columns: { requested_at: past, ends_at: lease, next_removal_at: due },
  },
  { name: 'sync.store_reads', key: ['id', 'uuid'], columns: { requested_at: past, ends_at: lease } },
];
