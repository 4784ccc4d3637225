import { runService } from '@secrets/service';
import { startStandalone } from './app.ts';
import { Env } from './config.ts';
import { greeting, startFailure } from './operator-messages.ts';

await runService(
  'standalone',
  Env,
  async ({ env, log, onStop }) => {
    const standalone = await startStandalone(env, log);
    onStop(standalone.stop);
    process.stdout.write(greeting(standalone));
  },
  startFailure,
);
