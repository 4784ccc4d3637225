// Every test that this machine can run, on the embedded PostgreSQL and on RabbitMQ where one is available. The last lines say what
// could not run and why; with CI=true that is a failure.
//
//   npm test [-- jest arguments]         everything, or what the arguments select
//   npm test -- --no-rabbitmq […]        without RabbitMQ: starts faster
import { spawn } from 'node:child_process';
import { createTemplate } from '@secrets/schemas/testing';
import { findChromium } from './test-services/installed-chromium.ts';
import { startTestServices } from './test-services.ts';

const jest = new URL('../node_modules/jest/bin/jest.js', import.meta.url).pathname;
const noRabbit = '--no-rabbitmq';
const args = process.argv.slice(2);

const { databaseUrl, amqpUrl, how, stop } = await startTestServices({
  log: (line) => console.log(line),
  rabbitmq: !args.includes(noRabbit),
});
const chromium = findChromium();
/** Services that tests start compile once, as with `npm start`. */
const compileCache = new URL('../node_modules/.cache/node', import.meta.url).pathname;

const passed = await runJest({
  NODE_COMPILE_CACHE: compileCache,
  ...(await createTemplate(databaseUrl)),
  ...(amqpUrl === undefined ? {} : { TEST_AMQP_URL: amqpUrl }),
  ...(chromium === undefined ? {} : { TEST_CHROMIUM: chromium }),
});
await stop();

const isComplete = amqpUrl !== undefined && chromium !== undefined;
if (amqpUrl === undefined) console.log(`not run: tests on RabbitMQ: ${how.rabbitmq}`);
if (chromium === undefined) console.log('not run: tests in a browser: Chromium is not installed');
const ok = passed && (isComplete || process.env.CI !== 'true');
console.log(ok ? 'all tests that could run have passed' : 'FAILED');
process.exit(ok ? 0 : 1);

function runJest(env: Record<string, string>): Promise<boolean> {
  const command = [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    jest,
    ...args.filter((argument) => argument !== noRabbit),
  ];
  const child = spawn(process.execPath, command, { stdio: 'inherit', env: { ...process.env, ...env } });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code === 0)));
}
