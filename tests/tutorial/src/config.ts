import { port } from '@secrets/config';
import { WorkerEnv } from '@secrets/sync-worker';
import { z } from 'zod';

/** The worker's environment variables. */
export const Env = WorkerEnv.extend({
  INTERNAL_PORT: port.default(7199),
  /** The endpoint to use in place of the provider's own. The worker may connect to its host and port. */
  NOTES_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
});
