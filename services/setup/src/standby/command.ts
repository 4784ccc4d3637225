import { readConfig, withFiles } from '@secrets/config';
import { openKeyServices } from '@secrets/key-service';
import { openKeyFile } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import { StandbyEnv } from '../config.ts';
import { checkStandby } from './check-standby.ts';

/**
 * The command `check-standby`: logs what it finds.
 * @throws if the server could not take over
 */
export async function runCheckStandby(
  environment: Parameters<typeof withFiles>[0],
  log: Logger,
): Promise<void> {
  const env = readConfig(StandbyEnv, withFiles(environment));
  const { unwrap } = openKeyServices(env);
  const opened = env.SEAL_KEY_FILES.map(async (file) => [file, await openKeyFile(file, unwrap)] as const);
  const { state, problems, notes, boundRows } = await checkStandby(env.DATABASE_URL, {
    sealKeys: new Map(await Promise.all(opened)),
    rowKeys: await openKeyFile(env.ROW_KEY_FILE, unwrap),
  });
  for (const note of notes) log.warn({ note }, 'to be done with this server, or to know about it');
  for (const problem of problems) log.error({ problem }, 'this server could not take over');
  const { isStandby, lastCommitAt, now } = state;
  const lagSeconds = lastCommitAt === null ? null : (now.getTime() - lastCommitAt.getTime()) / 1_000;
  if (problems.length > 0) throw new Error(`the server could not take over: ${problems.length} problems`);
  log.info(
    isStandby ? { lastCommitAt, lagSeconds, boundRows } : { boundRows },
    isStandby ? 'this standby can be promoted' : 'this server is a primary, and services can use it',
  );
}
