import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Manifest, ofKind, overlays, render } from '../render.ts';
import { violations } from './workload-rules.ts';
import { type Workload, workloadsOf } from './workloads.ts';

interface Budget {
  maxUnavailable: number;
  selector: { matchLabels: Record<string, string> };
}

const matches = (selector: Record<string, string>, labels: Record<string, string>) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value);

describe.each(overlays)('the overlay %s', (overlay) => {
  let manifests: Manifest[];
  let workloads: Workload[];

  beforeAll(async () => {
    manifests = await render(overlay);
    workloads = workloadsOf(manifests);
  });
  const deployments = () => workloads.filter(({ kind }) => kind === 'Deployment');

  test('no workload lacks probes, limits, confinement or a service account', () => {
    expect(workloads.length).toBeGreaterThan(10);
    expect(
      workloads.flatMap((workload) => violations(workload).map((text) => `${workload.name} ${text}`)),
    ).toEqual([]);
  });

  test('each service has a service account of its own, without a token', () => {
    const accounts = ofKind(manifests, 'ServiceAccount') as (Manifest & {
      automountServiceAccountToken?: boolean;
    })[];
    const used = workloads.map(({ pod }) => pod.serviceAccountName!);
    expect(accounts.map(({ metadata }) => metadata.name).sort()).toEqual([...new Set(used)].sort());
    expect(accounts.filter((account) => account.automountServiceAccountToken !== false)).toEqual([]);
    const shared = used.filter((name, at) => used.indexOf(name) !== at);
    expect([...new Set(shared)]).toEqual(['setup']); // its Jobs
  });

  test('no object is in another namespace, and the namespace admits restricted pods only', () => {
    for (const { kind, metadata } of manifests)
      expect([metadata.name, metadata.namespace]).toEqual([
        metadata.name,
        kind === 'Namespace' ? undefined : 'secrets-service',
      ]);
    const [namespace] = ofKind(manifests, 'Namespace');
    expect(namespace!.metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  });

  test('contains no secret', () => {
    expect(ofKind(manifests, 'Secret')).toEqual([]);
  });

  test('every Deployment ends after preStop, is spread, and has a disruption budget', () => {
    const budgets = ofKind<Budget>(manifests, 'PodDisruptionBudget');
    for (const { name, labels, pod } of deployments()) {
      const [own, ...others] = budgets.filter(({ spec }) => matches(spec.selector.matchLabels, labels));
      expect([name, own?.spec.maxUnavailable, others]).toEqual([name, 1, []]);
      expect(pod.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey)).toEqual([
        'kubernetes.io/hostname',
        'topology.kubernetes.io/zone',
      ]);
      expect(pod.containers[0]!.lifecycle?.preStop).toEqual({ sleep: { seconds: 5 } });
      // The service itself gives up 25 s after SIGTERM.
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(5 + 25);
    }
  });

  test('probes ask the service on the port that operators use', () => {
    for (const { pod } of deployments()) {
      const [{ startupProbe, readinessProbe, livenessProbe }] = pod.containers as [
        (typeof pod.containers)[0],
      ];
      expect(startupProbe?.httpGet).toEqual({ path: '/livez', port: 'internal' });
      expect(readinessProbe?.httpGet).toEqual({ path: '/readyz?traffic', port: 'internal' });
      expect(livenessProbe?.httpGet).toEqual({ path: '/livez', port: 'internal' });
    }
  });

  test('every Service selects one workload, and its ports are ports of the container', () => {
    interface ServiceSpec {
      selector: Record<string, string>;
      ports: { port: number; targetPort: string }[];
    }
    for (const { metadata, spec } of ofKind<ServiceSpec>(manifests, 'Service')) {
      const [workload, ...others] = workloads.filter(({ labels }) => matches(spec.selector, labels));
      expect([metadata.name, workload?.name, others]).toEqual([metadata.name, metadata.name, []]);
      expect(spec.ports.map(({ port, targetPort }) => ({ name: targetPort, containerPort: port }))).toEqual(
        workload!.pod.containers[0]!.ports,
      );
    }
  });
});

test('the overlay for one machine fits in a cluster of two CPUs, and its servers keep their addresses', async () => {
  const manifests = await render('local');
  const milliCpus = workloadsOf(manifests).flatMap(({ pod }) =>
    pod.containers.map(({ resources }) => Number(/^(\d+)m$/.exec(resources?.requests?.cpu ?? '')?.[1])),
  );
  expect(milliCpus.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(1_000); // the system of a cluster takes the rest
  const headless = ofKind<{ clusterIP?: string }>(manifests, 'Service').filter(
    ({ spec }) => spec.clusterIP === 'None',
  );
  expect(headless).toEqual([]);
});

test('in production, autoscalers decide how many gateways, logins and workers there are', async () => {
  const manifests = await render('production');
  interface ScalerSpec {
    scaleTargetRef: { name: string };
  }
  const scaled = ['HorizontalPodAutoscaler', 'ScaledObject'].flatMap((kind) =>
    ofKind<ScalerSpec>(manifests, kind).map(({ spec }) => spec.scaleTargetRef.name),
  );
  const deployments = workloadsOf(manifests).filter(({ kind }) => kind === 'Deployment');
  expect(scaled.sort()).toEqual(
    deployments
      .filter(({ replicas }) => replicas === undefined)
      .map(({ name }) => name)
      .sort(),
  );
  expect(deployments.filter(({ replicas }) => replicas !== undefined).map(({ name }) => name)).toEqual([
    'secrets',
    'sync-control',
  ]);
});

describe('violations', () => {
  let gateway: Workload;
  beforeAll(async () => {
    gateway = workloadsOf(await render('local')).find(({ name }) => name === 'gateway')!;
  });

  const pod = (change: object) => ({ ...gateway, pod: { ...gateway.pod, ...change } });
  const container = (change: object) => pod({ containers: [{ ...gateway.pod.containers[0], ...change }] });
  const security = (change: object) =>
    container({ securityContext: { ...gateway.pod.containers[0]!.securityContext, ...change } });

  test.each([
    ['mounts a token of the API server', () => pod({ automountServiceAccountToken: true })],
    ['has no service account of its own', () => pod({ serviceAccountName: 'default' })],
    ['has the addresses of all services in its environment', () => pod({ enableServiceLinks: undefined })],
    ['shares a namespace of the node', () => pod({ hostNetwork: true })],
    ['mounts a folder of the node', () => pod({ volumes: [{ name: 'x', hostPath: {} }] })],
    ['has no seccomp profile', () => pod({ securityContext: { runAsNonRoot: true } })],
    ['may run as root', () => pod({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } })],
    ['has no startupProbe', () => container({ startupProbe: undefined })],
    ['has no readinessProbe', () => container({ readinessProbe: undefined })],
    ['has no livenessProbe', () => container({ livenessProbe: undefined })],
    [
      'requests no resources',
      () => container({ resources: { limits: gateway.pod.containers[0]!.resources!.limits } }),
    ],
    [
      'has no limits',
      () => container({ resources: { requests: gateway.pod.containers[0]!.resources!.requests } }),
    ],
    ['may gain privileges', () => security({ allowPrivilegeEscalation: undefined })],
    ['is privileged', () => security({ privileged: true })],
    ['may write to its image', () => security({ readOnlyRootFilesystem: undefined })],
    ['has capabilities', () => security({ capabilities: {} })],
    ['adds capabilities', () => security({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } })],
    ['has an image without a version', () => container({ image: 'secrets-service-gateway:latest' })],
    [
      'has a secret in its environment',
      () =>
        container({
          env: [
            { name: 'X', valueFrom: { secretKeyRef: { name: 'x', key: 'client-secret', optional: true } } },
          ],
        }),
    ],
  ])('a workload that %s is found', (violation, change) => {
    expect(violations(change())).toEqual([violation]);
  });
});
