import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mustRun, run } from '../../../clients/run.ts';
import { modules, nodePrograms } from '../../versions.ts';

const folder = fileURLToPath(new URL('../../../../node_modules/.cache/kubernetes-node/', import.meta.url));
const bin = join(folder, 'bin');
const stampFile = join(folder, '.built');
/** The first build takes most of an hour on two cores. */
const buildTimeoutMs = 7_200_000;

const [kubernetes] = [modules.kubernetes.module];
const version = kubernetes.split('@')[1]!;
const ofKubernetes = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
] as const;

/** Programs of the operating system, with the package of Debian that has them. */
const required = {
  docker: 'docker.io',
  containerd: 'containerd',
  runc: 'runc',
  etcd: 'etcd-server',
  '/usr/lib/cni/ptp': 'containernetworking-plugins',
  iptables: 'iptables',
  ipset: 'ipset',
  conntrack: 'conntrack',
  findmnt: 'util-linux',
};

/** Where the programs are. */
export const programFolder = bin;

/** The path of a program that was built. */
export const programFile = (name: (typeof ofKubernetes)[number] | keyof typeof nodePrograms): string =>
  join(bin, name);

/** Returns the packages of Debian that are not installed. */
export async function findMissing(): Promise<string[]> {
  const isThere = (name: string) => (name.startsWith('/') ? existsSync(name) : isOnPath(name));
  const found = Object.entries(required).map(async ([name, debian]) =>
    (await isThere(name)) ? [] : [debian],
  );
  return (await Promise.all(found)).flat();
}

const isOnPath = async (name: string) => (await run('sh', ['-c', `command -v ${name}`])).code === 0;

/** Builds the programs of Kubernetes and the add-ons from their Go modules, unless these versions are built. */
export async function buildPrograms(): Promise<void> {
  const stamp = JSON.stringify([kubernetes, nodePrograms]);
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  rmSync(stampFile, { force: true });
  mkdirSync(bin, { recursive: true });
  const env = { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOBIN: bin };
  const go = (args: string[]) => mustRun('go', args, { cwd: folder, env, timeoutMs: buildTimeoutMs });
  writeFileSync(join(folder, 'go.mod'), await goModule(go));
  const flags = ['-p', '2', '-mod=mod', '-buildvcs=false', '-trimpath', '-ldflags', linkerFlags];
  for (const name of ofKubernetes) {
    console.log(`building ${name}`);
    await go(['build', ...flags, '-o', join(bin, name), `k8s.io/kubernetes/cmd/${name}`]);
  }
  for (const [name, program] of Object.entries(nodePrograms)) {
    console.log(`building ${name}`);
    await go(['install', '-p', '2', program]);
  }
  writeFileSync(stampFile, stamp);
}

/**
 * Returns a go.mod that requires Kubernetes. Its own go.mod requires the libraries of its repository at v0.0.0, and they are
 * published as v0.<minor>.<patch>.
 */
async function goModule(go: (args: string[]) => Promise<string>): Promise<string> {
  writeFileSync(join(folder, 'go.mod'), 'module node\n\ngo 1.26.0\n');
  const { GoMod } = JSON.parse(await go(['mod', 'download', '-json', kubernetes])) as { GoMod: string };
  const libraries = [...readFileSync(GoMod, 'utf8').matchAll(/^\s+(k8s\.io\/\S+) v0\.0\.0$/gm)];
  const published = version.replace(/^v1/, 'v0');
  return [
    'module node',
    'go 1.26.0',
    `require k8s.io/kubernetes ${version}`,
    ...libraries.map(([, name]) => `replace ${name} => ${name} ${published}`),
    '',
  ].join('\n');
}

const linkerFlags = [
  '-s -w',
  `-X k8s.io/component-base/version.gitVersion=${version}`,
  `-X k8s.io/client-go/pkg/version.gitVersion=${version}`,
].join(' ');
