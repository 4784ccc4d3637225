import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../harness/eventually.ts';
import { apply, kubectl, podsOf } from '../kubectl.ts';

export const clientNamespace = 'secrets-load';
const pod = 'writing-client';
const script = readFileSync(new URL('./pod.ts', import.meta.url), 'utf8');
const shownFailures = 5;

interface Target {
  /** The namespace of the gateway. */
  namespace: string;
  rootToken: string;
  /** An image that has Node. */
  image: string;
  /** With which the gateway serves HTTPS, and the name in it. */
  certificate?: { pem: string; name: string };
}

/** The figures of a second. */
interface Second {
  requests: number;
  failures: string[];
  slowestMs: number;
}

/** A client in a pod of another namespace. It reaches the gateway through its Service, and never repeats a request. */
export class WritingClient {
  /** Starts one in place of another one, and waits until it writes. */
  static async start(target: Target): Promise<WritingClient> {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: clientNamespace } };
    await apply([namespace]);
    await kubectl(['delete', 'pod', '-n', clientNamespace, pod, '--ignore-not-found']);
    await apply(objectsFor(target));
    const started = new WritingClient();
    await eventually(
      () => started.#seconds(),
      (seconds) => seconds.some(({ requests }) => requests > 0),
      120_000,
    );
    return started;
  }

  /** Returns the figures of the time in which `work` runs. Throws if a request failed. */
  async during(work: () => Promise<unknown>): Promise<string> {
    const { text, failed } = await this.observe(work);
    if (failed > 0) throw new Error(text);
    return text;
  }

  /** Returns the figures of the time in which `work` runs. Throws if there was no request in a part of it. */
  async observe(work: () => Promise<unknown>): Promise<{ text: string; failed: number }> {
    const before = (await this.#seconds()).length;
    const result = await work();
    const end = (await this.#seconds()).length;
    await sleep(3_000); // of requests in progress
    const seconds = (await this.#seconds()).slice(before);
    const requests = seconds.reduce((sum, second) => sum + second.requests, 0);
    const failures = seconds.flatMap((second) => second.failures);
    if (requests === 0 || seconds.length <= end - before) throw new Error('the client did not write');
    const slowestMs = Math.max(...seconds.map((second) => second.slowestMs));
    const figures = `${failures.length} of ${requests} requests failed, the slowest took ${slowestMs} ms`;
    const texts = [
      ...(typeof result === 'string' ? [result] : []),
      figures,
      ...failures.slice(0, shownFailures),
    ];
    return { text: texts.join('\n'), failed: failures.length };
  }

  async #seconds(): Promise<Second[]> {
    const [found] = await podsOf(clientNamespace);
    if (found?.status.phase !== 'Running' && found?.status.phase !== 'Failed') return [];
    const lines = (await kubectl(['logs', '-n', clientNamespace, pod])).trim().split('\n').filter(Boolean);
    if (found.status.phase === 'Failed')
      throw new Error(`the client has ended: ${lines.slice(-5).join('\n')}`);
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Second);
  }
}

function objectsFor({ namespace, rootToken, image, certificate }: Target): object[] {
  const own = (name: string) => ({ name, namespace: clientNamespace });
  const env = {
    API_URL: `${certificate === undefined ? 'http' : 'https'}://gateway.${namespace}:8200`,
    SERVER_NAME: certificate?.name ?? `gateway.${namespace}`,
    ...(certificate && { CERTIFICATE_FILE: '/script/certificate.pem' }),
  };
  const fromSecret = { name: 'TOKEN', valueFrom: { secretKeyRef: { name: pod, key: 'token' } } };
  const container = {
    name: 'client',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['node', '/script/pod.mts'],
    env: [fromSecret, ...Object.entries(env).map(([name, value]) => ({ name, value }))],
    volumeMounts: [{ name: 'script', mountPath: '/script' }],
  };
  const files = { 'pod.mts': script, ...(certificate && { 'certificate.pem': certificate.pem }) };
  return [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: own(pod), data: files },
    { apiVersion: 'v1', kind: 'Secret', metadata: own(pod), stringData: { token: rootToken } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: own(pod),
      spec: {
        restartPolicy: 'Never',
        terminationGracePeriodSeconds: 1,
        containers: [container],
        volumes: [{ name: 'script', configMap: { name: pod } }],
      },
    },
  ];
}
