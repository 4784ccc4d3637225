import { type DeadlineTable, happened } from '@secrets/clock';
import { sealDeadlines } from '@secrets/seal-rotation';
import { deadlinesOfMethods } from './auth-methods/registry.ts';

/** Every column of this schema with times that work waits for, or that are compared with others. */
export const deadlines: readonly DeadlineTable[] = [
  { name: 'login.identity_keys', key: ['id', 'text'], columns: { state_since: happened('login') } },
  ...deadlinesOfMethods,
  ...sealDeadlines('login'),
];
