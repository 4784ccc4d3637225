import { commaList, port } from '@secrets/config';
import { processEnv } from '@secrets/service';
import { z } from 'zod';

/** The environment of the sandbox service. */
export const Env = z.object({
  ...processEnv,
  PORT: port.default(7010),
  /** The file that keeps the state across restarts; without it, the state is only in memory. */
  DATA_FILE: z.string().min(1).optional(),
  /** Names by which clients reach the sandbox, besides those of the machine. */
  ALLOWED_HOSTS: commaList.default([]),
});
