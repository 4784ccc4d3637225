import { startSandbox } from '@secrets/sandbox';
import { runService } from '@secrets/service';
import { Env } from './config.ts';

await runService('sandbox', Env, async ({ env, log, onStop }) => {
  const { HOST: host, PORT: port, DATA_FILE: dataFile } = env;
  const sandbox = await startSandbox({ host, port, ...(dataFile !== undefined && { dataFile }) });
  onStop(sandbox.stop);
  log.info({ url: sandbox.url }, 'ready');
});
