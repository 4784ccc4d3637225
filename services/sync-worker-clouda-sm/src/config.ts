import { port } from '@secrets/config';
import { WorkerEnv } from '@secrets/sync-worker';
import { z } from 'zod';
import { workerIdentity } from './worker-identity.ts';

/** The worker's environment variables. */
export const Env = WorkerEnv.extend({
  INTERNAL_PORT: port.default(7105),
  /** The endpoint to use in place of the provider's own. The worker may connect to its host and port. */
  CLOUDA_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The region of destinations that do not set one. */
  AWS_REGION: z.string().optional(),
  AWS_DEFAULT_REGION: z.string().optional(),
  CLOUDA_WORKER_IDENTITY: workerIdentity,
});
