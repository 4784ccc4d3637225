import { keepingAnswer } from './keeping-answer.ts';
import type { Mount } from './queries/mounts.ts';

/** A mount in the words of the API. */
export const mountAnswer = (mount: Mount) => ({
  accessor: mount.accessor,
  config: keepingAnswer(mount),
  description: mount.description,
  options: { version: '2' },
  type: 'kv',
  uuid: mount.id,
});
