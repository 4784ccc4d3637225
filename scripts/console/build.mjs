// Builds the console into services/console/dist, if something that it is built from has changed: its own sources, the
// lock file, or the description of the API. Plain JavaScript without dependencies, because scripts/run.mjs imports it.
//
//   node scripts/console/build.mjs       for images; everywhere else, `npm run setup` does it
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const source = join(root, 'services/console');
const dist = join(source, 'dist');
const stampFile = join(dist, '.stamp');
const generated = join(source, 'src/api/generated');
/** Files from which the API client and the forms of destinations are generated. */
const descriptions = ['openapi.json', 'destination-types.json'].map((name) => join(generated, name));

/**
 * Builds the console unless it is up to date, and prints what it does. `node` is the executable that runs the steps.
 * @throws an error with the output of the step that failed; the console of before is kept
 */
export async function buildConsole({ node, print }) {
  if (!existsSync(source)) return;
  const known = readStamp();
  const everything = digest([...consoleFiles(), ...serviceFiles()]);
  if (known.everything === everything) return;
  const started = performance.now();
  print('the console: describing the API\n');
  await run(node, ['scripts/console/write-description.ts'], root);
  const inputs = digest([...consoleFiles(), ...descriptions]);
  if (known.inputs !== inputs) {
    print('the console: building it, because its sources or the API have changed\n');
    await build(node);
    print(`the console: built in ${((performance.now() - started) / 1_000).toFixed(1)} s\n`);
  }
  writeFileSync(stampFile, JSON.stringify({ everything, inputs }));
}

async function build(node) {
  const target = join(root, `node_modules/.cache/console-${process.pid}`);
  mkdirSync(dirname(target), { recursive: true });
  try {
    const schema = ['src/api/generated/openapi.json', '--empty-objects-unknown'];
    await runTool(node, 'openapi-typescript/bin/cli.js', [
      ...schema,
      '--output',
      join(generated, 'schema.ts'),
    ]);
    await run(node, [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', '.'], source);
    await runTool(node, 'vite/bin/vite.js', [
      'build',
      '--logLevel',
      'warn',
      '--emptyOutDir',
      '--outDir',
      target,
    ]);
    await compress(target);
    rmSync(dist, { recursive: true, force: true });
    renameSync(target, dist);
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
}

const isText = (file) => ['.html', '.js', '.css', '.svg', '.json'].includes(extname(file));
const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)];

/** Writes `<file>.br` and `<file>.gz`, which the gateway sends to clients that accept them, where that saves anything. */
async function compress(folder) {
  const compressOne = async (file) => {
    const bytes = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    const codings = { br: await brotli(bytes, { params }), gz: await gzipped(bytes, { level: 9 }) };
    for (const [suffix, coded] of Object.entries(codings))
      if (coded.length < bytes.length) writeFileSync(`${file}.${suffix}`, coded);
  };
  await Promise.all(filesIn(folder).filter(isText).map(compressOne));
}

function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, 'utf8'));
  } catch {
    return {};
  }
}

const leftOut = ['node_modules', 'dist', 'generated'];

function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return leftOut.includes(entry.name) ? [] : filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

const consoleFiles = () => [
  ...filesIn(source),
  ...filesIn(join(root, 'scripts/console')),
  join(root, 'pnpm-lock.yaml'),
];

/** Returns the source files on which the description of the API can depend. */
const serviceFiles = () =>
  ['libs', 'services'].flatMap((group) =>
    readdirSync(join(root, group))
      .map((name) => join(root, group, name, 'src'))
      .filter((folder) => existsSync(folder) && !folder.startsWith(source))
      .flatMap(filesIn),
  );

function digest(files) {
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const bytes = readFileSync(file);
    hash.update(`${relative(root, file).split(sep).join('/')} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest('hex');
}

const runTool = (node, tool, args) => run(node, [join(source, 'node_modules', tool), ...args], source);

/** Runs one step, whose output is printed only if it fails. */
async function run(node, args, cwd) {
  const child = spawn(node, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0)
    throw new Error(`the console cannot be built; ${relative(root, args[0])} printed:\n${output}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await buildConsole({ node: process.execPath, print: (text) => process.stdout.write(text) });
