import { type DeadlineTable, due, happened, lease } from '@secrets/clock';

const past = happened('login');

/** Times that the rotation of client secrets waits for. It derives the next scheduled one from `secret_since`. */
export const cloudBDeadlines: readonly DeadlineTable[] = [
  {
    name: 'login.cloudb_rotations',
    key: ['mount_id', 'uuid'],
    columns: { leased_until: lease, due_at: due, secret_since: past, pending_since: past },
  },
  { name: 'login.cloudb_rotation_attempts', key: ['id', 'uuid'], columns: { started_at: past } },
];
