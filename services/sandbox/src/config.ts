import { port } from '@secrets/config';
import { z } from 'zod';

/** The environment of the sandbox service. */
export const Env = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(7010),
  /** The file that keeps the state across restarts; without it, the state is only in memory. */
  DATA_FILE: z.string().min(1).optional(),
});
