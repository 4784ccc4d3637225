import { join } from 'node:path';

/** Everything that the cluster writes, except rules of the firewall. Sockets need a short path. */
export const folder = '/var/tmp/secrets-service-node';

const at = (...names: string[]) => join(folder, ...names);

/** The file for KUBECONFIG. Its context is `single-node`. */
export const kubeconfig = at('kubeconfig');

export const context = 'single-node';

/** Addresses that are reached from this machine only. The node has one of its own, on the loopback device. */
export const addresses = {
  nodeName: 'single-node',
  node: '10.211.0.1',
  pods: '10.212.0.0/16',
  /** The part of `pods` that the controllers assign to the first node. */
  podsOfNode: '10.212.0.0/24',
  services: '10.213.0.0/16',
  dns: '10.213.0.10',
  etcd: 'http://127.0.0.1:12379',
  etcdPeers: 'http://127.0.0.1:12380',
};

const socket = at('containerd.sock');

export const paths = {
  socket,
  ctr: ['--address', socket],
  etcd: at('etcd'),
  logs: at('logs'),
  volumes: at('volumes'),
  certificates: at('certificates'),
  tokens: at('tokens.csv'),
  accountKey: at('account.key'),
  accountPublicKey: at('account.pub'),
  containerd: at('containerd.toml'),
  containerdData: at('containerd'),
  containerdState: at('run'),
  network: at('cni'),
  kubelet: at('kubelet.yaml'),
  kubeletData: at('kubelet'),
  resolvConf: at('resolv.conf'),
};
