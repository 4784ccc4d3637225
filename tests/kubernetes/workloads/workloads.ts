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

/** Returns the Deployments, StatefulSets and Jobs of a rendered overlay. */
export const workloadsOf = (manifests: Manifest[]): Workload[] =>
  ['Deployment', 'StatefulSet', 'Job'].flatMap((kind) =>
    ofKind<WorkloadSpec>(manifests, kind).map(({ metadata, spec: { replicas, template } }) => ({
      kind,
      name: metadata.name,
      labels: template.metadata.labels,
      replicas,
      pod: template.spec,
    })),
  );
