import { readConfig } from '@secrets/config';
import { runProcess } from '@secrets/http';
import { startSandbox } from '@secrets/sandbox';
import { createLogger } from '@secrets/telemetry';
import { Env } from './config.ts';

const log = createLogger({ service: 'sandbox', level: process.env.LOG_LEVEL ?? 'info' });

await runProcess(log, async () => {
  const { HOST: host, PORT: port, DATA_FILE: dataFile } = readConfig(Env, process.env);
  const sandbox = await startSandbox({ host, port, ...(dataFile !== undefined && { dataFile }) });
  log.info({ url: sandbox.url }, 'ready');
  return sandbox;
});
