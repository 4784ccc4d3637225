import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustRun, run } from '../clients/run.ts';
import { type Sources, writeSchemas } from './schemas/write-schemas.ts';
import { modules, packages, programs } from './versions.ts';

const folder = fileURLToPath(new URL('../../node_modules/.cache/kubernetes/', import.meta.url));
/** A first build of Helm takes minutes, and longer beside other work. */
const buildMs = 1_800_000;
const stampFile = join(folder, '.installed');

/** The path of an installed program. */
export const programFile = (name: keyof typeof programs): string => join(folder, 'bin', name);

/** The folder with a JSON Schema for each kind, in files whose names kubeconform derives from kind and version. */
export const schemaFolder = join(folder, 'schemas');

/** Installs the programs and schemas, unless they are installed. Returns why this machine cannot. */
export async function install(): Promise<string | undefined> {
  const stamp = stampOf();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return undefined;
  const obstacle = await findObstacle();
  if (obstacle !== undefined) return obstacle;
  rmSync(folder, { recursive: true, force: true });
  for (const name of ['bin', 'packages', 'schemas']) mkdirSync(join(folder, name), { recursive: true });
  for (const [name, program] of Object.entries(programs)) {
    console.log(`installing ${name}`);
    // `go install` names the program after its package.
    await mustRun('go', ['install', program], {
      env: { ...goEnv, GOBIN: join(folder, 'bin') },
      timeoutMs: buildMs,
    });
  }
  console.log('installing schemas');
  writeSchemas(await sources(), schemaFolder);
  writeFileSync(stampFile, stamp);
  return undefined;
}

async function findObstacle(): Promise<string | undefined> {
  const isInstalled = await run('go', ['version']).catch(() => undefined);
  if (isInstalled === undefined) return 'go 1.26 or newer is not installed';
  // The newest version is asked for each time, also where the pinned one is cached.
  const latest = modules.gateway.module.replace(/@.*/, '@latest');
  const reached = await run('go', ['list', '-m', latest], { cwd: tmpdir(), env: goEnv });
  return reached.code === 0 ? undefined : `go cannot download modules: ${reached.stderr.trim()}`;
}

/** No other version of Go is downloaded. */
const goEnv = { ...process.env, GOTOOLCHAIN: 'local' };

async function sources(): Promise<Sources> {
  const folders: Record<string, string> = {};
  for (const [name, { module, sum }] of Object.entries(modules)) {
    const output = await mustRun('go', ['mod', 'download', '-json', module], { cwd: folder, env: goEnv });
    const download = JSON.parse(output) as { Dir: string; Sum: string };
    if (download.Sum !== sum) throw new Error(`${module} has the checksum ${download.Sum}, not ${sum}`);
    folders[name] = download.Dir;
  }
  for (const [name, { pinned, integrity }] of Object.entries(packages)) {
    const target = join(folder, 'packages');
    const args = ['pack', pinned, '--json', '--silent', '--pack-destination', target];
    const [packed] = JSON.parse(await mustRun('npm', args)) as { filename: string; integrity: string }[];
    if (packed!.integrity !== integrity) throw new Error(`${pinned} has the checksum ${packed!.integrity}`);
    await mustRun('tar', ['-xzf', join(target, packed!.filename), '-C', target]);
    folders[name] = join(target, 'package');
  }
  return folders as Sources;
}

/** Describes what has to be installed. */
function stampOf(): string {
  const hash = createHash('sha256').update(JSON.stringify([programs, modules, packages]));
  for (const file of ['write-schemas.ts', 'strict-schema.ts', 'declared-schema.ts', 'rabbitmqcluster.yaml'])
    hash.update(readFileSync(new URL(`./schemas/${file}`, import.meta.url)));
  return hash.digest('hex');
}
