import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Campaign } from '../campaign.ts';

/**
 * Runs the command `check-standby` on the standby, promoted or not, with the keys of the services. Returns the last line of its
 * log.
 * @throws if the standby could not take over
 */
export async function checkStandby({ stage }: Campaign): Promise<string> {
  const { folder, postgres } = stage.system;
  const env = {
    DATABASE_URL: postgres.pair!.standby.url('postgres'),
    SEAL_KEY_FILES: join(folder, 'seal.key'),
    ROW_KEY_FILE: join(folder, 'row.key'),
  };
  const args = ['services/setup/src/main.ts', 'check-standby'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  return stdout.trim().split('\n').at(-1)!;
}
