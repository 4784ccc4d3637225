import { port } from '@secrets/config';
import { WorkerEnv } from '@secrets/sync-worker';
import { z } from 'zod';

/** The worker's environment variables. */
export const Env = WorkerEnv.extend({
  INTERNAL_PORT: port.default(7108),
  /** The endpoint to use in place of the provider's public API. The worker may connect to its host and port. */
  CODEHOST_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
});
