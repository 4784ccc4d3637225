// Every test that this machine can run, on the embedded PostgreSQL and on RabbitMQ where one is available. The last
// lines say what could not run and why; with CI=true that is a failure.
//
// npm test [-- jest arguments]         everything, or what the arguments select; no server is started for packages that
// use none
//   npm test -- --no-rabbitmq […]        without RabbitMQ: starts faster
//   npm test -- --long […]               also the long tests, and random tests as long as for a release
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemplate } from '@secrets/schemas/testing';
import { atExit } from './test-services/at-exit.ts';
import { findChromium } from './test-services/installed-chromium.ts';
import { startTestServices } from './test-services.ts';
import { describeDuration } from './testing/recorded-seconds.ts';
import { needsOneOf, onPostgres, onRabbit, selectedTests } from './testing/selected-tests.ts';
import { temporaryFiles } from './testing/temporary-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const jest = new URL('../node_modules/jest/bin/jest.js', import.meta.url).pathname;
const [noRabbit, long] = ['--no-rabbitmq', '--long'];
const given = process.argv.slice(2);
const args = given.filter((argument) => ![noRabbit, long].includes(argument));

const isLong = given.includes(long);
/** Jest, and the servers, services and browsers of this run, have their files there. */
process.env.TMPDIR = temporaryFiles({ isLong });
const files = selectedTests(jest, args);
if (!isLong) console.log(`${files.length} test files: ${describeDuration(files)} on two quiet cores`);
const needsRabbit = needsOneOf(onRabbit, files);
const services = needsOneOf(onPostgres, files)
  ? await startTestServices({
      log: (line) => console.log(line),
      rabbitmq: needsRabbit && !given.includes(noRabbit),
    })
  : undefined;
const chromium = findChromium();
/** In a run of so many files of the whole system, it pays to prepare what many of their processes start from. */
const fromFiles = 4;
const ofSystem = files.filter((file) => /^tests\/(?!declarations)/.test(relative(root, file)));

const passed = await runJest({
  /** Services that tests start compile once, as with `npm start`. */
  NODE_COMPILE_CACHE: new URL('../node_modules/.cache/node', import.meta.url).pathname,
  TEST_FILES: files.join(),
  ...(ofSystem.length < fromFiles
    ? {}
    : { TEST_INITIAL_DATA: temporaryFolder(), TEST_PROGRAMS: bundleServices() }),
  ...(isLong ? { LONG: '1' } : {}),
  ...(services === undefined ? {} : await createTemplate(services.databaseUrl)),
  ...(services?.amqpUrl === undefined ? {} : { TEST_AMQP_URL: services.amqpUrl }),
  ...(chromium === undefined ? {} : { TEST_CHROMIUM: chromium }),
});
await services?.stop();

const withLong = files.filter((file) =>
  /\b(longTest|isLong(Run)?)\b/.test(readFileSync(file, 'utf8')),
).length;
if (!isLong && withLong > 0)
  console.log(`not run: the long tests in ${withLong} of the files: npm test -- --long`);
const missing = [
  ...(needsRabbit && services?.amqpUrl === undefined ? [`tests on RabbitMQ: ${services?.how.rabbitmq}`] : []),
  ...(chromium === undefined && files.some((file) => file.includes('tests/console/'))
    ? ['tests in a browser: Chromium is not installed']
    : []),
];
for (const one of missing) console.log(`not run: ${one}`);
const ok = passed && (missing.length === 0 || process.env.CI !== 'true');
console.log(ok ? 'all tests that could run have passed' : 'FAILED');
process.exit(ok ? 0 : 1);

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'test-run-'));
  atExit(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Bundles every service, like its image. Returns the folder. */
function bundleServices(): string {
  const folder = temporaryFolder();
  execFileSync(process.execPath, ['scripts/bundle.mjs', '--for-tests', folder], { cwd: root });
  return folder;
}

function runJest(env: Record<string, string>): Promise<boolean> {
  const command = ['--disable-warning=ExperimentalWarning', jest, ...args];
  const child = spawn(process.execPath, command, { stdio: 'inherit', env: { ...process.env, ...env } });
  return new Promise((resolve) => child.once('exit', (code) => resolve(code === 0)));
}
