import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRun } from '../../clients/run.ts';
import { root, type Version } from './images.ts';
import { apply, forward, kubectl, untilAvailable } from './kubectl.ts';

/** The namespace of the overlays. */
export const namespace = 'secrets-service';

/** Passes a temporary folder for keys to `use`. */
export async function withKeyFolder<T>(use: (keys: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Creates the key files that are not there yet, with the image of `setup`, as docs/kubernetes.md does. Returns the root token.
 */
export async function createKeys(keys: string, { tag }: Version): Promise<string> {
  const user = `${process.getuid?.()}:${process.getgid?.()}`;
  const command = [`secrets-service-setup:${tag}`, 'node', 'src/main.js', 'keys'];
  await mustRun('docker', ['run', '--rm', '-u', user, '-v', `${keys}:/keys`, ...command]);
  return readFileSync(join(keys, 'login', 'root-token'), 'utf8').trim();
}

/** Creates or changes a Secret for each folder of keys. */
export async function applyKeySecrets(keys: string, into: string): Promise<void> {
  for (const name of readdirSync(keys)) {
    const create = [
      'create',
      'secret',
      'generic',
      `keys-${name}`,
      '-n',
      into,
      `--from-file=${join(keys, name)}`,
    ];
    await apply(await kubectl([...create, '--dry-run=client', '-o', 'yaml']));
  }
}

/** Installs the overlay `local` of a version as docs/kubernetes.md does. */
export async function installOverlay(version: Version, keys: string): Promise<void> {
  await kubectl(['apply', '-f', join(version.folder, 'k8s/base/namespace.yaml')]);
  await applyKeySecrets(keys, namespace);
  await apply(await renderOverlay(version));
  await untilAvailable(namespace);
}

/** Returns the objects of the overlay `local` as text. */
export async function renderOverlay({ folder, tag }: Version): Promise<string> {
  const text = await kubectl(['kustomize', join(folder, 'k8s/overlays/local')]);
  return text.replaceAll(/(image: secrets-service-\S+):local$/gm, `$1:${tag}`);
}

/** Addresses of the API and of the sandbox on this machine. */
export interface Reached {
  url: string;
  sandboxUrl: string;
  rootToken: string;
}

/** Forwards ports to the gateway and the sandbox while `use` runs; `local` are the ports, by default any. */
export async function reaching<T>(
  rootToken: string,
  use: (system: Reached) => Promise<T>,
  local: readonly number[] = [],
): Promise<T> {
  const gateway = await forward(namespace, 'service/gateway', 8200, local[0]);
  const sandbox = await forward(namespace, 'service/sandbox', 8300, local[1]);
  try {
    return await use({ url: gateway.url, sandboxUrl: sandbox.url, rootToken });
  } finally {
    gateway.close();
    sandbox.close();
  }
}

/** Runs the demo against the overlay. Throws, with its output, if it fails. */
export async function demo(rootToken: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'demo-'));
  try {
    const file = join(folder, 'root-token');
    writeFileSync(file, rootToken, { mode: 0o600 });
    await reaching(rootToken, ({ url, sandboxUrl }) => {
      const args = ['--url', url, '--root-token-file', file, '--sandbox-url', sandboxUrl];
      return mustRun(process.execPath, ['scripts/demo.ts', ...args], { cwd: root });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function removeNamespaces(...names: string[]): Promise<void> {
  for (const name of names)
    await kubectl(['delete', 'namespace', name, '--ignore-not-found', '--timeout=10m']);
}
