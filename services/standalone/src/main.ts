import { readConfig } from '@secrets/config';
import { runProcess } from '@secrets/http';
import { createLogger } from '@secrets/telemetry';
import { startStandalone } from './app.ts';
import { Env } from './config.ts';
import { greeting } from './greeting.ts';
import { startFailure } from './start-failure.ts';

const log = createLogger({ service: 'standalone', level: process.env.LOG_LEVEL ?? 'warn' });

await runProcess(log, async () => {
  let env: Env | undefined;
  try {
    env = readConfig(Env, process.env);
    const standalone = await startStandalone(env, log);
    process.stdout.write(greeting(standalone));
    return standalone;
  } catch (error) {
    const sentence = startFailure(error, env);
    if (sentence === undefined) throw error;
    process.stderr.write(`${sentence}\n`);
    process.exit(1);
  }
});
