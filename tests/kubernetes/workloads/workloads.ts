import { type Manifest, ofKind } from '../render.ts';

export interface Variable {
  name: string;
  value?: string;
  valueFrom?: {
    configMapKeyRef?: { name: string; key: string };
    secretKeyRef?: { name: string; key: string; optional?: boolean };
  };
}

interface Probe {
  httpGet?: { path: string; port: string };
}

export interface Container {
  name: string;
  image: string;
  env?: Variable[];
  ports?: { name: string; containerPort: number }[];
  resources?: Partial<Record<'requests' | 'limits', Record<string, string>>>;
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop?: object };
  securityContext?: {
    allowPrivilegeEscalation?: boolean;
    readOnlyRootFilesystem?: boolean;
    privileged?: boolean;
    capabilities?: { drop?: string[]; add?: string[] };
  };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  terminationGracePeriodSeconds?: number;
  topologySpreadConstraints?: { topologyKey: string }[];
  securityContext?: { runAsNonRoot?: boolean; runAsUser?: number; seccompProfile?: { type: string } };
  containers: Container[];
  volumes?: { name: string; secret?: { secretName: string }; hostPath?: object }[];
}

/** A Kubernetes object that runs pods. */
export interface Workload {
  kind: string;
  name: string;
  labels: Record<string, string>;
  replicas: number | undefined;
  pod: PodSpec;
}

interface WorkloadSpec {
  replicas?: number;
  template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
}

const workloadOf =
  (kind: string) =>
  ({
    metadata,
    spec: { replicas, template },
  }: Pick<Manifest, 'metadata'> & { spec: WorkloadSpec }): Workload => ({
    kind,
    name: metadata.name,
    labels: template.metadata.labels,
    replicas,
    pod: template.spec,
  });

/** Returns the Deployments, StatefulSets and Jobs of a rendered overlay, also the Jobs that a CronJob creates. */
export const workloadsOf = (manifests: Manifest[]): Workload[] => [
  ...['Deployment', 'StatefulSet', 'Job'].flatMap((kind) =>
    ofKind<WorkloadSpec>(manifests, kind).map(workloadOf(kind)),
  ),
  ...ofKind<{ jobTemplate: { spec: WorkloadSpec } }>(manifests, 'CronJob').map((manifest) =>
    workloadOf('Job')({ ...manifest, spec: manifest.spec.jobTemplate.spec }),
  ),
];
