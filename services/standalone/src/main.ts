import { runService } from '@secrets/service';
import { startStandalone } from './app.ts';
import { Env } from './config.ts';
import { greeting } from './greeting.ts';
import { startFailure } from './start-failure.ts';

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
