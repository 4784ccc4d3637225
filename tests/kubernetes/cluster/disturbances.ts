import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../../clients/run.ts';
import { eventually } from '../../harness/eventually.ts';
import { deploymentsOf, kubectl, type Pod, podsOf, untilAvailable } from './kubectl.ts';

/** Pods of our services: not of the servers, the sandbox, or Jobs. */
const ofServices = 'app.kubernetes.io/component in (gateway, login, secrets, sync-control, sync-worker)';
const timeoutMs = 300_000;

const servicePods = (namespace: string): Promise<Pod[]> => podsOf(namespace, ofServices);

export async function scaleAll(namespace: string, replicas: number): Promise<void> {
  await kubectl(['scale', '-n', namespace, 'deployment', '--all', `--replicas=${replicas}`]);
  await untilRolledOut(namespace);
}

/** Replaces all pods at once, a new one before each old one. */
export async function restartAll(namespace: string): Promise<string> {
  await kubectl(['rollout', 'restart', '-n', namespace, 'deployment']);
  await untilRolledOut(namespace);
  return `${(await servicePods(namespace)).length} pods were replaced`;
}

export async function untilRolledOut(namespace: string): Promise<void> {
  for (const name of await deploymentsOf(namespace))
    await kubectl(['rollout', 'status', '-n', namespace, name, '--timeout=15m']);
}

/** Deletes one pod after the other; the next one when nothing is missing any more. */
export async function deleteInTurn(namespace: string): Promise<string> {
  const pods = await servicePods(namespace);
  for (const { metadata } of pods) {
    await kubectl(['delete', 'pod', '-n', namespace, metadata.name, '--wait=false']);
    await untilReplaced(namespace, metadata.uid, pods.length);
  }
  return `${pods.length} pods were deleted`;
}

/** Evicts all pods, as `kubectl drain` does: those that a budget protects are tried again until it permits them. */
export async function evictAll(namespace: string): Promise<string> {
  const pods = await servicePods(namespace);
  let refusals = 0;
  await Promise.all(
    pods.map(async ({ metadata: { name } }) => {
      for (; !(await evicted(namespace, name)); await sleep(2_000)) refusals += 1;
    }),
  );
  const old = new Set(pods.map(({ metadata }) => metadata.uid));
  for (const uid of old) await untilReplaced(namespace, uid, pods.length);
  return `${pods.length} pods were evicted; budgets refused ${refusals} attempts`;
}

async function evicted(namespace: string, name: string): Promise<boolean> {
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } };
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
  const { code, stderr } = await run('kubectl', ['create', '--raw', path, '-f', '-'], {
    input: JSON.stringify(eviction),
  });
  if (code === 0) return true;
  if (/disruption budget|TooManyRequests/.test(stderr)) return false;
  throw new Error(stderr);
}

/** Resolves when a pod is gone and there are `count` ready ones. */
async function untilReplaced(namespace: string, uid: string, count: number): Promise<void> {
  const isReady = ({ status }: Pod) => status.containerStatuses?.every(({ ready }) => ready) ?? false;
  await eventually(
    () => servicePods(namespace),
    (pods) => pods.every(({ metadata }) => metadata.uid !== uid) && pods.filter(isReady).length === count,
    timeoutMs,
  );
}

/** Stops PostgreSQL for this time. Throws if a container of a service was restarted. Returns when it was available again. */
export async function stopDatabase(namespace: string, seconds: number): Promise<string> {
  const restarts = async () =>
    Object.fromEntries(
      (await servicePods(namespace)).map(({ metadata, status }) => [
        metadata.name,
        status.containerStatuses?.[0]?.restartCount,
      ]),
    );
  const before = await restarts();
  const scale = (replicas: number) =>
    kubectl(['scale', '-n', namespace, 'statefulset/postgres', `--replicas=${replicas}`]);
  await scale(0);
  await kubectl(['wait', '-n', namespace, '--for=delete', '--timeout=2m', 'pod/postgres-0']);
  await sleep(seconds * 1000);
  await scale(1);
  const started = Date.now();
  await untilAvailable(namespace);
  const after = await restarts();
  if (JSON.stringify(after) !== JSON.stringify(before))
    throw new Error(`restarts before: ${JSON.stringify(before)}, after: ${JSON.stringify(after)}`);
  const took = ((Date.now() - started) / 1000).toFixed(1);
  return `away for ${seconds} s; no container of ${Object.keys(before).length} pods was restarted; all available ${took} s after its start`;
}
