import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustRun, run } from './run.ts';

const sources = fileURLToPath(new URL('.', import.meta.url));
const cache = fileURLToPath(new URL('../../node_modules/.cache/clients/', import.meta.url));

/** Instructions for installing a client. */
interface Recipe {
  /** Files of its folder here. A change of one installs it again. */
  files: string[];
  /** Why it cannot run on this machine; undefined if it can. */
  obstacle(): Promise<string | undefined>;
  /** Installs exactly the pinned versions into the folder. */
  install(folder: string): Promise<unknown>;
}

const fromPython = (name: string): Recipe => ({
  files: ['requirements.txt'],
  obstacle: async () =>
    (await succeeds('python3', ['-c', 'import venv, ensurepip']))
      ? undefined
      : 'python3 with its module venv is not installed',
  install: async (folder) => {
    await mustRun('python3', ['-m', 'venv', folder]);
    const pins = join(sources, name, 'requirements.txt');
    const args = ['install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', pins];
    await mustRun(join(folder, 'bin', 'pip'), args);
  },
});

/** No other version of Go is downloaded. */
const goOptions = { cwd: join(sources, 'go'), env: { ...process.env, GOTOOLCHAIN: 'local' } };

const recipes = {
  hvac: fromPython('hvac'),
  openbao: fromPython('openbao'),
  'node-vault': {
    files: ['package.json', 'package-lock.json'],
    obstacle: async () => ((await succeeds('npm', ['--version'])) ? undefined : 'npm is not installed'),
    install: async (folder) => {
      for (const file of recipes['node-vault'].files)
        copyFileSync(join(sources, 'node-vault', file), join(folder, file));
      await mustRun('npm', ['ci', '--silent', '--ignore-scripts', '--no-audit', '--no-fund'], {
        cwd: folder,
      });
    },
  },
  go: {
    files: ['go.mod', 'go.sum', 'client_test.go'],
    obstacle: async () =>
      (await succeeds('go', ['list', '-m'], goOptions)) ? undefined : 'go 1.24 or newer is not installed',
    install: (folder) => mustRun('go', ['test', '-c', '-o', join(folder, 'client.test'), '.'], goOptions),
  },
} satisfies Record<string, Recipe>;

export type ClientName = keyof typeof recipes;
export const clientNames = Object.keys(recipes) as ClientName[];

/** The folder into which a client is installed. */
export const clientFolder = (name: ClientName): string => join(cache, name);

const stampFile = (name: ClientName) => join(clientFolder(name), '.installed');

/** Describes what has to be installed. */
function stampOf(name: ClientName): string {
  const hash = createHash('sha256');
  for (const file of recipes[name].files) hash.update(readFileSync(join(sources, name, file)));
  return hash.digest('hex');
}

/** Whether the pinned versions of a client are installed. */
export const isInstalled = (name: ClientName): boolean =>
  existsSync(stampFile(name)) && readFileSync(stampFile(name), 'utf8') === stampOf(name);

/** Installs a client, unless it is installed. Returns why this machine cannot run it. Throws if the installation fails. */
export async function install(name: ClientName): Promise<string | undefined> {
  if (isInstalled(name)) return undefined;
  const obstacle = await recipes[name].obstacle();
  if (obstacle !== undefined) return obstacle;
  const folder = clientFolder(name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await recipes[name].install(folder);
  writeFileSync(stampFile(name), stampOf(name));
  return undefined;
}

const succeeds = (...command: Parameters<typeof run>): Promise<boolean> =>
  run(...command).then(
    ({ code }) => code === 0,
    () => false,
  );
