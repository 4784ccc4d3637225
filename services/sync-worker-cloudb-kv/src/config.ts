import { port } from '@secrets/config';
import { WorkerEnv } from '@secrets/sync-worker';
import { z } from 'zod';

const httpUrl = z.url({ protocol: /^https?$/ });

/** The worker's environment variables. */
export const Env = WorkerEnv.extend({
  INTERNAL_PORT: port.default(7106),
  /** The endpoint to use in place of the vaults' own hosts. The worker may connect to its host and port. */
  CLOUDB_ENDPOINT_URL: httpUrl.optional(),
  /** The directory to use in place of the clouds' own. The worker may connect to its host and port. */
  CLOUDB_AUTHORITY_URL: httpUrl.optional(),
});
