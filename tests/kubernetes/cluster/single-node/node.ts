import { mkdirSync, rmSync } from 'node:fs';
import { mustRun, run } from '../../../clients/run.ts';
import { addOns } from './add-ons.ts';
import { Daemon } from './daemon.ts';
import { controlPlane, nodeDaemons } from './declared-daemons.ts';
import { writeFiles } from './files.ts';
import { buildNodeImages, importImages } from './images.ts';
import { buildPrograms, findMissing, programFile } from './programs.ts';
import { addresses, folder, kubeconfig, paths } from './settings.ts';

/** A Kubernetes cluster of one node whose programs are children of this process. */
export interface SingleNode {
  kubeconfig: string;
  /** Resolves with a sentence if one of its programs ends by itself. */
  ended: Promise<string>;
  /** Stops all programs and containers, and deletes what they have written. */
  stop(): Promise<void>;
}

/** Returns why this machine cannot run a cluster. */
export async function findNodeObstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs Linux and root';
  const missing = await findMissing();
  return missing.length === 0 ? undefined : `not installed: ${missing.join(', ')}`;
}

/** Builds what is not built yet, starts the cluster, and waits until its node is ready. Its data begins empty. */
export async function startNode(): Promise<SingleNode> {
  await buildPrograms();
  await remove();
  mkdirSync(folder, { recursive: true });
  writeFiles();
  await addAddress();
  const daemons: Daemon[] = [];
  const stop = () => stopAll(daemons);
  try {
    await start(controlPlane, daemons);
    await importImages(await buildNodeImages());
    await start(nodeDaemons, daemons);
    await install();
  } catch (error) {
    await stop();
    throw error;
  }
  return { kubeconfig, ended: Promise.race(daemons.map(({ ended }) => ended)), stop };
}

async function addAddress(): Promise<void> {
  await mustRun('ip', ['addr', 'add', `${addresses.node}/32`, 'dev', 'lo']);
  await mustRun('sysctl', ['-qw', 'net.ipv4.ip_forward=1']);
}

async function start(declared: typeof controlPlane, started: Daemon[]): Promise<void> {
  for (const { name, program, args, readyWhen } of declared) {
    const daemon = new Daemon(name, program, args);
    started.push(daemon);
    if (readyWhen !== undefined) await daemon.until(async () => (await run(...readyWhen)).code === 0);
  }
}

async function install(): Promise<void> {
  const kubectl = (args: string[], input?: string) =>
    mustRun(programFile('kubectl'), ['--kubeconfig', kubeconfig, ...args], { ...(input && { input }) });
  await kubectl(['apply', '-f', '-'], addOns());
  await kubectl(['wait', '--for=condition=Ready', '--timeout=4m', `node/${addresses.nodeName}`]);
  const available = ['--for=condition=Available', '--timeout=4m'];
  await kubectl(['wait', '-n', 'kube-system', ...available, 'deployment/coredns']);
}

/** The kubelet ends before its containers do, or it would start them again. */
async function stopAll(daemons: readonly Daemon[]): Promise<void> {
  const isRuntime = ({ name }: Daemon) => name === 'containerd';
  for (const daemon of daemons.filter((one) => !isRuntime(one)).toReversed()) await daemon.stop();
  await killContainers();
  await daemons.find(isRuntime)?.stop();
  await remove();
}

async function killContainers(): Promise<void> {
  const tasks = [...paths.ctr, '--namespace', 'k8s.io', 'tasks'];
  const { stdout } = await run('ctr', [...tasks, 'ls', '--quiet']);
  for (const id of stdout.split('\n').filter(Boolean)) await run('ctr', [...tasks, 'rm', '--force', id]);
}

/** Removes what a cluster has left: mounts, the links of pods, the address, rules of the firewall, and files. */
async function remove(): Promise<void> {
  const { stdout } = await run('findmnt', ['-rno', 'TARGET']);
  const mounts = stdout.split('\n').filter((target) => target.startsWith(`${folder}/`));
  for (const target of mounts.toReversed()) await run('umount', ['-l', target]);
  const routes = await run('ip', ['route', 'show', 'root', addresses.podsOfNode]);
  for (const [, link] of routes.stdout.matchAll(/ dev (veth\S+)/g))
    await run('ip', ['link', 'delete', link!]);
  await run('ip', ['addr', 'delete', `${addresses.node}/32`, 'dev', 'lo']);
  await run(programFile('kube-proxy'), ['--cleanup']);
  await run('sh', ['-c', removeRules]);
  rmSync(folder, { recursive: true, force: true });
}

/** Removes the rules and sets of kube-router, which leaves them. */
const removeRules = `
for table in filter nat mangle; do
  iptables-save -t $table | grep -vE 'KUBE-(ROUTER|POD-FW|NWPLCY)' | iptables-restore -w
done
ipset list -n | grep KUBE- | xargs -r -n 1 ipset destroy
`;
