import { copyFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustRun, run } from '../run.ts';

/** Instructions for installing a client. */
export interface Recipe {
  /** Below `tests/clients`: the files that decide what is installed. A change of one installs it again. */
  files: string[];
  /** Why it cannot run on this machine; undefined if it can. */
  obstacle(): Promise<string | undefined>;
  /** Installs exactly the pinned versions into the folder. */
  install(folder: string): Promise<unknown>;
}

/** The file with this path below `tests/clients`. */
export const sourceFile = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Python packages, without those that they depend on unless the list has them. */
const fromPython = (source: string): Recipe => ({
  files: [`${source}/requirements.txt`],
  obstacle: () =>
    missing(['python3', '-c', 'import venv, ensurepip'], 'python3 with its module venv is not installed'),
  install: async (folder) => {
    await mustRun('python3', ['-m', 'venv', folder]);
    const pins = sourceFile(`${source}/requirements.txt`);
    const args = ['install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', pins];
    await mustRun(join(folder, 'bin', 'pip'), args);
  },
});

/**
 * Ansible with one of the collections that the package `ansible` contains: the whole package has tens of thousands of
 * files.
 */
const fromAnsible = (source: string, collection: string): Recipe => {
  const core = fromPython(source);
  const pins = `${source}/collection.txt`;
  return {
    files: [...core.files, pins, `${source}/playbook.yml`],
    obstacle: core.obstacle,
    install: async (folder) => {
      await core.install(folder);
      const download = join(folder, 'download');
      const args = ['download', '--quiet', '--disable-pip-version-check', '--no-deps', '--dest', download];
      await mustRun(join(folder, 'bin', 'pip'), [...args, '-r', sourceFile(pins)]);
      await mustRun(join(folder, 'bin', 'python'), ['-c', unpack, download, collection, folder]);
      rmSync(download, { recursive: true });
    },
  };
};

/** A Python program: unpacks one folder of the archives in another folder. */
const unpack = `
import pathlib, sys, zipfile
source, wanted, target = sys.argv[1:]
for path in pathlib.Path(source).glob("*.whl"):
    with zipfile.ZipFile(path) as archive:
        archive.extractall(target, [name for name in archive.namelist() if name.startswith(wanted)])
`;

/** An npm package and its program, which Node finds beside it. */
const fromNpm = (source: string, ...programs: string[]): Recipe => {
  const names = ['package.json', 'package-lock.json', ...programs];
  return {
    files: names.map((name) => `${source}/${name}`),
    obstacle: () => missing(['npm', '--version'], 'npm is not installed'),
    install: async (folder) => {
      for (const name of names) copyFileSync(sourceFile(`${source}/${name}`), join(folder, name));
      const args = ['ci', '--silent', '--ignore-scripts', '--no-audit', '--no-fund'];
      await mustRun('npm', args, { cwd: folder });
    },
  };
};

/** A Go module, compiled by `go <build>`. No other version of Go is downloaded. */
const fromGo = (source: string, build: (folder: string) => string[], ...programs: string[]): Recipe => {
  const options = { cwd: sourceFile(source), env: { ...process.env, GOTOOLCHAIN: 'local' } };
  return {
    files: ['go.mod', 'go.sum', ...programs].map((name) => `${source}/${name}`),
    obstacle: () => missing(['go', 'list', '-m'], 'go 1.24 or newer is not installed', options),
    install: (folder) => mustRun('go', build(folder), options),
  };
};

/** A Rust program, compiled without optimization, and without what only a debugger reads. */
const fromCargo = (source: string, program: string): Recipe => ({
  files: ['Cargo.toml', 'Cargo.lock', 'src/main.rs'].map((name) => `${source}/${name}`),
  obstacle: () => missing(['cargo', '--version'], 'cargo is not installed'),
  install: async (folder) => {
    const target = join(folder, 'target');
    const manifest = sourceFile(`${source}/Cargo.toml`);
    await mustRun('cargo', [
      'build',
      '--quiet',
      '--locked',
      '--manifest-path',
      manifest,
      '--target-dir',
      target,
    ]);
    copyFileSync(join(target, 'debug', program), join(folder, program));
    rmSync(target, { recursive: true });
  },
});

/** The goal of Maven that fetches what a pom.xml names, with everything that it depends on. */
const fetchLibraries = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';

/** Java libraries and programs that use them, compiled. */
const fromMaven = (source: string, ...programs: string[]): Recipe => ({
  files: ['pom.xml', ...programs].map((name) => `${source}/${name}`),
  obstacle: async () =>
    (await missing(['javac', '--release', '17', '--version'], 'javac 17 or newer is not installed')) ??
    (await missing(['mvn', '--version'], 'mvn is not installed')),
  install: async (folder) => {
    const libraries = join(folder, 'lib');
    const pom = sourceFile(`${source}/pom.xml`);
    await mustRun('mvn', ['-q', '-B', '-f', pom, fetchLibraries, `-DoutputDirectory=${libraries}`]);
    const sources = programs.map((name) => sourceFile(`${source}/${name}`));
    await mustRun('javac', ['-d', folder, '-cp', join(libraries, '*'), ...sources]);
  },
});

/** A Go module whose client is in a folder that no other module can import, so that no program can call it. */
const notImportable = (module: string, version: string): Recipe => ({
  files: [],
  obstacle: async () => {
    const options = { env: { ...process.env, GOFLAGS: '-mod=mod', GOPROXY: 'https://proxy.golang.org' } };
    const args = ['list', '-m', `${module}@${version}`];
    const { code, stderr } = await run('go', args, { cwd: tmpdir(), ...options }).catch((error: Error) => ({
      code: -1,
      stderr: error.message,
    }));
    return code === 0
      ? `${module}: its client is in the folder internal, which no other module can import`
      : `${module}: ${stderr.trim().split('\n').at(-1)!.trim()}`;
  },
  install: async () => undefined,
});

export const recipes = {
  hvac: fromPython('hvac'),
  openbao: fromPython('openbao'),
  'node-vault': fromNpm('node-vault'),
  go: fromGo('go', (folder) => ['test', '-c', '-o', join(folder, 'client.test'), '.'], 'client_test.go'),
  'hashi-vault-js': fromNpm('programs/hashi-vault-js', 'client.mjs'),
  'vault-client-go': fromGo(
    'programs/vault-client-go',
    (folder) => ['build', '-o', join(folder, 'client'), '.'],
    'main.go',
  ),
  'consul-template': fromGo('programs/consul-template', (folder) => [
    'build',
    ...['-o', join(folder, 'consul-template'), 'github.com/hashicorp/consul-template'],
  ]),
  'external-secrets': fromGo(
    'programs/pods/external-secrets',
    (folder) => ['build', '-ldflags=-s -w', '-o', join(folder, 'external-secrets'), '.'],
    'main.go',
  ),
  'vault-secrets-operator': fromGo(
    'programs/pods/vault-secrets-operator',
    (folder) => ['build', '-ldflags=-s -w', '-o', join(folder, 'vault-secrets-operator'), '.'],
    'main.go',
  ),
  'csi-provider-requests': fromGo(
    'programs/pods/csi-provider-requests',
    (folder) => ['build', '-o', join(folder, 'csi-provider-requests'), '.'],
    'main.go',
  ),
  'vault-csi-provider': notImportable('github.com/hashicorp/vault-csi-provider', 'v1.5.0'),
  java: fromMaven('programs/java', 'SpringVault.java', 'JavaDriver.java'),
  ansible: fromAnsible('programs/ansible', 'ansible_collections/community/hashi_vault/'),
  vaultrs: fromCargo('programs/vaultrs', 'client-vaultrs'),
} satisfies Record<string, Recipe>;

/** The reason, if the command cannot be run or fails. */
const missing = (
  [command, ...args]: string[],
  reason: string,
  options?: Parameters<typeof run>[2],
): Promise<string | undefined> =>
  run(command!, args, options).then(
    ({ code }) => (code === 0 ? undefined : reason),
    () => reason,
  );
