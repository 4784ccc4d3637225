// The way in for every npm command: sets up what is missing, then runs one program on the pinned Node.
// Plain JavaScript without dependencies, because it runs before anything is installed, on Node 20 or newer.
//
//   node scripts/run.mjs <program.ts> [args…]   run a TypeScript program
//   node scripts/run.mjs --bin <tool> [args…]   run a tool from node_modules/.bin
//   node scripts/run.mjs --setup                only set up
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PNPM = 'pnpm@10.34.9';
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.setup-stamp');
const node = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');

const hash = createHash('sha256');
for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) {
  hash.update(readFileSync(join(root, file)));
}
const stamp = `${hash.digest('hex')} ${process.platform} ${process.arch}\n`;

function isSetUp() {
  return existsSync(node) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
}

function setUp() {
  process.stderr.write(
    `setup: installing what the project needs with ${PNPM} (first time: about a minute)\n`,
  );
  const args = ['-y', PNPM, 'install', '--frozen-lockfile', '--reporter=append-only'];
  const installed = spawnSync('npx', args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
    env: { ...process.env, COREPACK_ENABLE_STRICT: '0', CI: 'true' },
  });
  if (installed.status !== 0) {
    process.stderr.write(
      'setup: the install failed; its messages are above. Is the package registry reachable?\n',
    );
    process.exit(installed.status ?? 1);
  }
  if (!existsSync(node)) {
    process.stderr.write(`setup: the pinned Node is missing at ${node}; remove node_modules and try again\n`);
    process.exit(1);
  }
  writeFileSync(stampFile, stamp);
}

if (!isSetUp()) setUp();

const [first, ...rest] = process.argv.slice(2);
if (first === '--setup') process.exit(0);

const env = {
  ...process.env,
  PATH: `${dirname(node)}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}`,
};
const command =
  first === '--bin' ? [join(modules, '.bin', rest[0]), ...rest.slice(1)] : [node, first, ...rest];
const child = spawn(command[0], command.slice(1), {
  cwd: root,
  stdio: 'inherit',
  env,
  shell: first === '--bin' && process.platform === 'win32',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
