import { programFile } from './programs.ts';
import { addresses, kubeconfig, paths } from './settings.ts';

/** A program of the cluster that keeps running. */
interface DeclaredDaemon {
  name: string;
  program: string;
  args: string[];
  /** A program and its arguments: when it succeeds, the next one is started. By default, that is at once. */
  readyWhen?: readonly [string, string[]];
}

const common = [`--kubeconfig=${kubeconfig}`];
const hostname = `--hostname-override=${addresses.nodeName}`;

const kubectlSucceeds = (...args: string[]): readonly [string, string[]] => [
  programFile('kubectl'),
  [...common, ...args],
];

/** The programs that run before images can be imported. */
export const controlPlane: readonly DeclaredDaemon[] = [
  {
    name: 'etcd',
    program: 'etcd',
    args: [
      `--data-dir=${paths.etcd}`,
      `--listen-client-urls=${addresses.etcd}`,
      `--advertise-client-urls=${addresses.etcd}`,
      `--listen-peer-urls=${addresses.etcdPeers}`,
    ],
  },
  {
    name: 'kube-apiserver',
    program: programFile('kube-apiserver'),
    args: [
      `--etcd-servers=${addresses.etcd}`,
      `--bind-address=${addresses.node}`,
      `--advertise-address=${addresses.node}`,
      `--cert-dir=${paths.certificates}`,
      `--token-auth-file=${paths.tokens}`,
      '--authorization-mode=Node,RBAC',
      '--allow-privileged=true',
      `--service-cluster-ip-range=${addresses.services}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${paths.accountPublicKey}`,
      `--service-account-signing-key-file=${paths.accountKey}`,
      '--kubelet-preferred-address-types=InternalIP',
    ],
    readyWhen: kubectlSucceeds('get', '--raw', '/readyz'),
  },
  {
    name: 'kube-controller-manager',
    program: programFile('kube-controller-manager'),
    args: [
      ...common,
      '--leader-elect=false',
      '--use-service-account-credentials',
      `--service-account-private-key-file=${paths.accountKey}`,
      `--root-ca-file=${paths.certificates}/apiserver.crt`,
      '--allocate-node-cidrs',
      `--cluster-cidr=${addresses.pods}`,
    ],
  },
  {
    name: 'kube-scheduler',
    program: programFile('kube-scheduler'),
    args: [...common, '--leader-elect=false'],
  },
  {
    name: 'containerd',
    program: 'containerd',
    args: [`--config=${paths.containerd}`],
    readyWhen: ['ctr', [...paths.ctr, 'version']],
  },
];

/** The programs of the node: they run pods, forward Services, and enforce network policies. */
export const nodeDaemons: readonly DeclaredDaemon[] = [
  {
    name: 'kubelet',
    program: programFile('kubelet'),
    args: [
      ...common,
      hostname,
      `--config=${paths.kubelet}`,
      `--root-dir=${paths.kubeletData}`,
      `--cert-dir=${paths.certificates}`,
      `--node-ip=${addresses.node}`,
    ],
    readyWhen: kubectlSucceeds('get', 'node', addresses.nodeName),
  },
  {
    name: 'kube-proxy',
    program: programFile('kube-proxy'),
    args: [
      ...common,
      hostname,
      '--proxy-mode=iptables',
      `--cluster-cidr=${addresses.pods}`,
      '--conntrack-max-per-core=0',
    ],
  },
  {
    name: 'kube-router',
    program: programFile('kube-router'),
    args: [
      ...common,
      hostname,
      '--run-router=false',
      '--run-service-proxy=false',
      '--run-firewall=true',
      `--service-cluster-ip-range=${addresses.services}`,
    ],
  },
];
