import { type DeadlineTable, due } from '@secrets/clock';
import { sealDeadlines } from '@secrets/seal-rotation';

/** Every column of this schema with times that work waits for, or that are compared with others. */
export const deadlines: readonly DeadlineTable[] = [
  { name: 'secrets.outbox', key: ['id', 'bigint'], columns: { due_at: due } },
  ...sealDeadlines('secrets'),
];
