import type { Container, PodSpec, Workload } from './workloads.ts';

/** Returns what a workload does that none may do, or lacks. */
export const violations = (workload: Workload): string[] => [
  ...podViolations(workload.pod),
  ...(workload.kind === 'Job' ? [] : workload.pod.containers.flatMap(probeViolations)),
  ...workload.pod.containers.flatMap(containerViolations),
];

const unless = (holds: boolean | undefined, violation: string): string[] => (holds ? [] : [violation]);

const podViolations = (pod: PodSpec): string[] => [
  ...unless(pod.automountServiceAccountToken === false, 'mounts a token of the API server'),
  ...unless(!['default', undefined].includes(pod.serviceAccountName), 'has no service account of its own'),
  ...unless(pod.enableServiceLinks === false, 'has the addresses of all services in its environment'),
  ...unless(!(pod.hostNetwork || pod.hostPID || pod.hostIPC), 'shares a namespace of the node'),
  ...unless(
    pod.volumes?.every(({ hostPath }) => hostPath === undefined) ?? true,
    'mounts a folder of the node',
  ),
  ...unless(pod.securityContext?.runAsNonRoot && pod.securityContext.runAsUser !== 0, 'may run as root'),
  ...unless(pod.securityContext?.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile'),
];

const probeViolations = (container: Container): string[] =>
  (['startupProbe', 'readinessProbe', 'livenessProbe'] as const).flatMap((probe) =>
    unless(container[probe] !== undefined, `has no ${probe}`),
  );

function containerViolations({ resources, securityContext: security, image, env }: Container): string[] {
  const all = ['cpu', 'memory', 'ephemeral-storage'];
  return [
    ...unless(
      all.every((name) => resources?.requests?.[name]),
      'requests no resources',
    ),
    ...unless(
      all.every((name) => name === 'cpu' || resources?.limits?.[name]),
      'has no limits',
    ),
    ...unless(resources?.limits?.cpu === undefined, 'is slowed down although a CPU is idle'),
    ...unless(security?.allowPrivilegeEscalation === false, 'may gain privileges'),
    ...unless(security?.privileged !== true, 'is privileged'),
    ...unless(security?.readOnlyRootFilesystem, 'may write to its image'),
    ...unless(security?.capabilities?.drop?.includes('ALL'), 'has capabilities'),
    ...unless(security?.capabilities?.add === undefined, 'adds capabilities'),
    ...unless(/:(?!latest$)[\w.-]+$/.test(image), 'has an image without a version'),
    ...unless(
      // The ID of an application is not secret, and is kept beside its secret.
      env?.every(({ valueFrom }) => ['client-id', undefined].includes(valueFrom?.secretKeyRef?.key)),
      'has a secret in its environment',
    ),
  ];
}
