// Every test that this machine can run: on the embedded side, and again on real Postgres and RabbitMQ where they can be
// had. Says in its last lines what could not run and why; with CI=true that is a failure.
//
//   npm test [-- jest arguments]         everything, or what the arguments select
//   npm test -- --embedded | --real      one side alone
import { spawn } from 'node:child_process';
import { startTestServices } from './test-services.ts';

const jest = new URL('../node_modules/jest/bin/jest.js', import.meta.url).pathname;
const args = process.argv.slice(2);
const only = args.find((argument) => argument === '--embedded' || argument === '--real');
const jestArguments = args.filter((argument) => argument !== only);
/** What behaves differently on real servers; the rest touches neither database nor broker. */
const onServers = ['libs/(db|broker|access|sync-entries|sync-worker)', 'services', 'tests'];

/** These end servers of their own, so they run once, on the real side. */
const notEmbedded = ['--testPathIgnorePatterns', '/node_modules/', '/\\.data/', '/tests/chaos/'];

function run(title: string, patterns: readonly string[], env: Record<string, string>): Promise<boolean> {
  console.log(`\n== ${title}`);
  const command = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', jest, ...patterns];
  const child = spawn(process.execPath, command, { stdio: 'inherit', env: { ...process.env, ...env } });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code === 0)));
}

const embedded =
  only === '--real' ||
  (await run('tests on the embedded database and broker', [...jestArguments, ...notEmbedded], {}));
const missing: string[] = [];
let real = true;
if (only !== '--embedded') {
  const services = await startTestServices({ log: (line) => console.log(line) });
  const { databaseUrl, amqpUrl, how } = services;
  if (databaseUrl === undefined) missing.push(`tests on Postgres: ${how.postgres}`);
  if (amqpUrl === undefined) missing.push(`tests on RabbitMQ: ${how.rabbitmq}`);
  if (databaseUrl !== undefined || amqpUrl !== undefined) {
    real = await run('tests on real servers', jestArguments.length > 0 ? jestArguments : onServers, {
      ...(databaseUrl === undefined ? {} : { TEST_DATABASE_URL: databaseUrl }),
      ...(amqpUrl === undefined ? {} : { TEST_AMQP_URL: amqpUrl }),
    });
  }
  await services.stop();
}

for (const line of missing) console.log(`not run: ${line}`);
const passed = embedded && real && (missing.length === 0 || process.env.CI !== 'true');
console.log(passed ? 'all tests that could run have passed' : 'FAILED');
process.exit(passed ? 0 : 1);
