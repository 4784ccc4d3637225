import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mustRun } from '../../clients/run.ts';

/** Longer than each `--timeout` of a command. */
const timeoutMs = 1_200_000;

/** Runs kubectl on the cluster of the kubeconfig and returns its output. Throws, with the output, if it fails. */
export const kubectl = (args: readonly string[], input?: string): Promise<string> =>
  mustRun('kubectl', [...args], { timeoutMs, ...(input !== undefined && { input }) });

/** Creates or changes objects, given as text or as values. */
export const apply = (objects: string | readonly object[], ...args: string[]): Promise<string> =>
  kubectl(
    ['apply', '-f', '-', ...args],
    typeof objects === 'string'
      ? objects
      : JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
  );

export interface Pod {
  metadata: { name: string; uid: string; labels: Record<string, string>; deletionTimestamp?: string };
  status: {
    phase: string;
    containerStatuses?: { restartCount: number; ready: boolean }[];
  };
}

/** The pods of a namespace that match a selector of labels. */
export const podsOf = async (namespace: string, selector = ''): Promise<Pod[]> =>
  JSON.parse(await kubectl(['get', 'pods', '-n', namespace, '-l', selector, '-o', 'json'])).items;

/** The names of all Deployments of a namespace, as `deployment/<name>`. */
export const deploymentsOf = async (namespace: string): Promise<string[]> =>
  (await kubectl(['get', 'deployment', '-n', namespace, '-o', 'name'])).trim().split('\n');

/** Waits until every Deployment of a namespace is available, as docs/kubernetes.md does. Throws with the newest events. */
export async function untilAvailable(namespace: string): Promise<void> {
  const condition = ['--for=condition=Available', '--timeout=10m'];
  await kubectl(['wait', '-n', namespace, ...condition, 'deployment', '--all']).catch(
    async (error: Error) => {
      const events = await kubectl(['get', 'events', '-n', namespace, '--sort-by=.lastTimestamp']);
      throw new Error(`${error.message}\n${events.split('\n').slice(-30).join('\n')}`);
    },
  );
}

/** A port of this machine that leads to one of a pod. */
interface Forward {
  url: string;
  close(): void;
}

/** Forwards a port to a pod of `target`, such as `service/gateway`, until it is closed or the pod ends. */
export async function forward(namespace: string, target: string, port: number, local = 0): Promise<Forward> {
  const args = ['port-forward', '-n', namespace, '--address=127.0.0.1', target, `${local || ''}:${port}`];
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const [, chosen] = /127\.0\.0\.1:(\d+)/.exec(line) ?? [];
    if (chosen === undefined) continue;
    child.stdout.resume(); // a full pipe would stop it
    return { url: `http://127.0.0.1:${chosen}`, close: () => void child.kill() };
  }
  throw new Error(`kubectl ${args.join(' ')} has ended`);
}
