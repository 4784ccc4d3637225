import { ConfigError, readConfig } from '@secrets/config';
import { runProcess } from '@secrets/http';
import { createLogger } from '@secrets/telemetry';
import { startStandalone } from './app.ts';
import { Env } from './config.ts';
import { greeting } from './greeting.ts';

const log = createLogger({ service: 'standalone', level: process.env.LOG_LEVEL ?? 'warn' });

await runProcess(log, async () => {
  try {
    const standalone = await startStandalone(readConfig(Env, process.env), log);
    process.stdout.write(greeting(standalone));
    return standalone;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
});
