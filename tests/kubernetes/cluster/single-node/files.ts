import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { pauseImage } from './images.ts';
import { addresses, context, kubeconfig, paths } from './settings.ts';

/** Writes the configuration of all programs, with new keys. One administrator is the user of all of them. */
export function writeFiles(): void {
  for (const path of [paths.logs, paths.volumes, paths.certificates, paths.network])
    mkdirSync(path, { recursive: true });
  const token = randomBytes(24).toString('hex');
  const secret = { mode: 0o600 };
  writeFileSync(paths.tokens, `${token},administrator,administrator,system:masters\n`, secret);
  writeFileSync(kubeconfig, stringify(kubeconfigOf(token)), secret);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(paths.accountKey, privateKey.export({ type: 'pkcs8', format: 'pem' }), secret);
  writeFileSync(paths.accountPublicKey, publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(paths.containerd, containerdConfig);
  writeFileSync(join(paths.network, 'pods.conflist'), JSON.stringify(podNetwork));
  writeFileSync(paths.kubelet, stringify(kubeletConfig));
  writeFileSync(paths.resolvConf, '');
}

const kubeconfigOf = (token: string) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': context,
  contexts: [{ name: context, context: { cluster: context, user: 'administrator' } }],
  users: [{ name: 'administrator', user: { token } }],
  clusters: [
    {
      name: context,
      cluster: {
        server: `https://${addresses.node}:6443`,
        'certificate-authority': `${paths.certificates}/apiserver.crt`,
      },
    },
  ],
});

const containerdConfig = `version = 2
root = "${paths.containerdData}"
state = "${paths.containerdState}"
[grpc]
  address = "${paths.socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/library/${pauseImage}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${paths.network}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`;

/** Connections between pods are routed, not bridged, so that the rules of Services and policies apply without a kernel module. */
const podNetwork = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'ptp',
      ipMasq: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: addresses.podsOfNode }]],
        routes: [{ dst: '0.0.0.0/0' }],
        dataDir: join(paths.network, 'leases'),
      },
    },
    { type: 'firewall' },
  ],
};

/** Its API has no authentication, because it is reached from this machine only. */
const kubeletConfig = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: addresses.node,
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  containerRuntimeEndpoint: `unix://${paths.socket}`,
  cgroupDriver: 'cgroupfs',
  failCgroupV1: false,
  failSwapOn: false,
  clusterDomain: 'cluster.local',
  clusterDNS: [addresses.dns],
  resolvConf: paths.resolvConf,
  volumePluginDir: join(paths.kubeletData, 'plugins'),
  // Images are imported and cannot be pulled again.
  imageGCHighThresholdPercent: 100,
  evictionHard: { 'nodefs.available': '0%', 'imagefs.available': '0%', 'memory.available': '100Mi' },
};
