import { port } from '@secrets/config';
import { WorkerEnv } from '@secrets/sync-worker';
import { z } from 'zod';

/** The worker's environment variables. */
export const Env = WorkerEnv.extend({
  INTERNAL_PORT: port.default(7107),
  /** The endpoint to use in place of the provider's own. The worker may connect to its host and port. */
  CLOUDC_ENDPOINT_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** The file with the credentials of destinations that have none. */
  GOOGLE_APPLICATION_CREDENTIALS: z.string().optional(),
  /** Host and port of the metadata server, which is asked for a token if there is no such file. */
  GCE_METADATA_HOST: z.string().optional(),
});
