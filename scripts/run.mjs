// Sets up what is missing, then runs a program on the pinned Node. Plain JavaScript without dependencies, because it runs
// before anything is installed, on Node 20 or newer.
//
//   node scripts/run.mjs --setup                only sets up; the npm scripts do this, and then `exec` the pinned Node
//   node scripts/run.mjs <program.ts> [args…]   also runs a program, on every platform
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { buildConsole } from './console/build.mjs';

const PNPM = 'pnpm@10.34.9';
const isWindows = process.platform === 'win32';
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.setup-stamp');
const node = join(modules, 'node', 'bin', isWindows ? 'node.exe' : 'node');

const hash = createHash('sha256');
for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) {
  hash.update(readFileSync(join(root, file)));
}
const stamp = `${hash.digest('hex')} ${process.platform} ${process.arch}\n`;

const isSetUp = () => existsSync(node) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;

function fail(message, code = 1) {
  process.stderr.write(`setup: ${message}\n`);
  process.exit(code);
}

/** One line of progress: rewritten in a terminal, and elsewhere printed at every quarter. */
function progressLine() {
  const seen = { resolved: new Set(), imported: new Set() };
  let quarter = 0;
  const show = (suffix = '') => {
    const total = seen.resolved.size;
    const text = `setup: installing packages: ${seen.imported.size} of ${total}${suffix}`;
    const reached = total === 0 ? 0 : Math.floor((4 * seen.imported.size) / total);
    if (process.stderr.isTTY) process.stderr.write(`\r${text}\u001b[K${suffix === '' ? '' : '\n'}`);
    else if (reached > quarter || suffix !== '') process.stderr.write(`${text}\n`);
    quarter = reached;
  };
  return {
    note({ status, packageId, to }) {
      seen[status]?.add(packageId ?? to);
      if (status === 'imported') show();
    },
    done: () => seen.resolved.size > 0 && show(', done'),
  };
}

/** Installs with pnpm, whose machine-readable report becomes the line of progress; its errors are printed. */
async function setUp() {
  process.stderr.write('setup: installing what the project needs (once, about a minute)\n');
  const args = ['-y', PNPM, 'install', '--frozen-lockfile', '--reporter=ndjson'];
  const child = spawn('npx', args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: isWindows,
    // Under `npm --silent`, pnpm would report nothing.
    env: { ...process.env, COREPACK_ENABLE_STRICT: '0', CI: 'true', npm_config_loglevel: 'notice' },
  });
  const progress = progressLine();
  const errors = [];
  child.stderr.on('data', (chunk) => errors.push(String(chunk)));
  child.on('error', (error) => fail(`npx could not be started: ${error.message}`));
  for await (const line of createInterface(child.stdout)) {
    const event = parse(line);
    if (event.name === 'pnpm:progress') progress.note(event);
    if (event.level === 'error') errors.push(`${event.err?.message ?? event.message ?? line}\n`);
  }
  const code = child.exitCode ?? (await once(child, 'exit'))[0];
  if (code !== 0) {
    process.stderr.write(`\n${errors.join('')}`);
    fail(
      'the installation failed; the messages above say why. Is the package registry reachable?',
      code ?? 1,
    );
  }
  progress.done();
  if (!existsSync(node)) fail(`the pinned Node is missing at ${node}; remove node_modules and try again`);
  writeFileSync(stampFile, stamp);
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

if (!isSetUp()) await setUp();
await buildConsole({ node, print: (text) => process.stderr.write(`setup: ${text}`) }).catch(({ message }) =>
  fail(message),
);

const [program, ...rest] = process.argv.slice(2);
if (program === '--setup') process.exit(0);

// Compiled code is kept, as `npm start` does it: the next start takes half as much CPU time.
const env = { NODE_COMPILE_CACHE: join(modules, '.cache', 'node'), ...process.env };
const child = spawn(node, [program, ...rest], { cwd: root, env, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => fail(error.message));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
