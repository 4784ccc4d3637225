import { onReloadSignal, runService } from '@secrets/service';
import type { Logger } from '@secrets/telemetry';
import { startStandalone } from './app.ts';
import { Env } from './config.ts';
import { greeting, startFailure } from './operator-messages.ts';

const reopenFailed = (log: Logger) => (error: unknown) =>
  log.error({ error }, 'unable to reopen the audit log');

await runService(
  'standalone',
  Env,
  async ({ env, log, metrics, onStop }) => {
    const standalone = await startStandalone(env, log, metrics);
    onStop(standalone.stop);
    // Closing the terminal sends SIGHUP too; it still ends a process that was started there.
    if (!process.stdin.isTTY)
      onStop(onReloadSignal(() => void standalone.reopenAudit().catch(reopenFailed(log))));
    process.stdout.write(greeting(standalone));
  },
  startFailure,
);
