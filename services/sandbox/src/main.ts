import { runService } from '@secrets/service';
import { Env } from './config.ts';
import { startSandbox } from './sandbox.ts';

await runService('sandbox', Env, async ({ env, log, onStop }) => {
  const { HOST: host, PORT: port, DATA_FILE: dataFile, ALLOWED_HOSTS: allowedHosts } = env;
  const sandbox = await startSandbox({
    host,
    port,
    allowedHosts,
    ...(dataFile !== undefined && { dataFile }),
  });
  onStop(sandbox.stop);
  log.info({ url: sandbox.url }, 'ready');
});
