// Builds the content of the images: dist/<service>/ mirrors services/, with one main.js, and the migrations of every schema where
// `libs/schemas` finds them. The gateway also has the console, which scripts/console/build.mjs has built.
//
//   node scripts/bundle.mjs                       every service
//   node scripts/bundle.mjs login …               only these
//   node scripts/bundle.mjs --for-tests <folder>  <folder>/services/<service>/src/main.mjs, also of standalone; for this machine
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Services that run in containers, with their source folders. Standalone runs from its sources. */
const programs = new Map(
  readdirSync(join(root, 'services'))
    .filter((name) => name !== 'standalone' && existsSync(join(root, 'services', name, 'src/main.ts')))
    .map((name) => [name, join(root, 'services', name)]),
);

const workerFile = /new Worker\(\s*new URL\('(\.\/[\w./-]+)\.ts', import\.meta\.url\)/g;
const requireOfModule = /createRequire\(import\.meta\.url\)\('/g;

/** Finds worker threads, which are bundled as separate files next to main.js, and lets esbuild resolve `createRequire`. */
const findThreads = (found) => ({
  name: 'threads',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text
        .replace(workerFile, (expression, file) => {
          found.push({ startedBy: relative(root, path), file: join(dirname(path), `${file}.ts`) });
          return expression.replace(`${file}.ts`, `./${basename(file)}.js`);
        })
        .replace(requireOfModule, "require('");
      return { contents, loader: 'ts' };
    }),
});

const options = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  minifySyntax: true,
  keepNames: true,
  legalComments: 'none',
  external: ['pg-native'], // optional native binding of `pg`
  // CommonJS packages load Node's modules with `require`, and find files with `__dirname`, which do not exist in ESM.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
  },
  define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' },
  logLevel: 'warning',
};

/** Bundles a file and the threads that it starts. Returns the total size in bytes. */
async function bundleFile(entry, folder) {
  const threads = [];
  const { metafile } = await build({
    ...options,
    entryPoints: [entry],
    outfile: join(folder, basename(entry).replace(/\.ts$/, '.js')),
    plugins: [findThreads(threads)],
    metafile: true,
  });
  const [{ bytes, inputs }] = Object.values(metafile.outputs);
  const sizes = [bytes];
  for (const { startedBy, file } of threads) {
    if (inputs[startedBy]?.bytesInOutput > 0) sizes.push(await bundleFile(file, folder));
  }
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function bundleProgram(name, folder) {
  const target = join(dist, name);
  rmSync(target, { recursive: true, force: true });
  const bytes = await bundleFile(join(folder, 'src/main.ts'), join(target, name, 'src'));
  cpSync(join(root, 'libs/schemas/migrations'), join(target, name, 'migrations'), { recursive: true });
  if (name === 'gateway') copyConsole(join(target, 'console/dist'));
  process.stdout.write(`${name}: ${(bytes / 1024).toFixed(0)} KiB\n`);
}

/** The gateway finds it as in `services`. */
function copyConsole(to) {
  const built = join(root, 'services/console/dist');
  if (!existsSync(built))
    process.stdout.write('the gateway has no console: services/console/dist does not exist\n');
  else cpSync(built, to, { recursive: true });
}

/** Modules find their files where their sources are. */
const foundBySource = {
  name: 'found by source',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(
        'import.meta.url',
        JSON.stringify(pathToFileURL(path).href),
      ),
      loader: 'ts',
    })),
};

/** Bundles every program into files that they share: in a few seconds, unlike one file for each. */
async function bundleForTests(folder) {
  await build({
    ...options,
    entryPoints: [...programs.values(), join(root, 'services/standalone')].map((one) =>
      join(one, 'src/main.ts'),
    ),
    outbase: root,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    plugins: [foundBySource],
  });
  // The only package that is found by a computed name: the programs of PostgreSQL.
  symlinkSync(join(root, 'libs/db/node_modules'), join(folder, 'node_modules'), 'junction');
}

async function bundleImages(requested) {
  const unknown = requested.filter((name) => !programs.has(name));
  if (unknown.length > 0) throw new Error(`unknown service: ${unknown.join(', ')}`);
  for (const [name, folder] of programs) {
    if (requested.length === 0 || requested.includes(name)) await bundleProgram(name, folder);
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--for-tests') await bundleForTests(rest[0]);
else await bundleImages(process.argv.slice(2));
