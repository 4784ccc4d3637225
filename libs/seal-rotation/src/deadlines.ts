import { type DeadlineTable, happened } from '@secrets/clock';
import type { SealedSchema } from './seal-keys.ts';

/** Times from which a rotation concludes whether a key is still used. */
export const sealDeadlines = (schema: SealedSchema): readonly DeadlineTable[] => [
  { name: `${schema}.seal_keys`, key: ['id', 'text'], columns: { used_at: happened(schema) } },
  {
    name: `${schema}.seal_rotation`,
    key: ['only_one', 'boolean'],
    columns: { pass_started_at: happened(schema) },
  },
];
