import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { dnsImage } from './images.ts';
import { addresses, paths } from './settings.ts';

/** More than all checks claim: a released volume is not claimed again. */
const volumes = 40;

/** Returns the objects that a cluster needs for the overlays: DNS, and a default StorageClass with volumes. */
export const addOns = (): string =>
  [...dns, storageClass, ...Array.from({ length: volumes }, volume)]
    .map((object) => stringify(object))
    .join('---\n');

const dnsName = { name: 'coredns', namespace: 'kube-system' };
const dnsLabels = { 'k8s-app': 'kube-dns' };
const corefile = `.:53 {
  errors
  health
  ready
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    pods insecure
  }
  loadbalance
}
`;

const dns = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: dnsName },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'coredns' },
    rules: [
      {
        apiGroups: [''],
        resources: ['endpoints', 'services', 'pods', 'namespaces'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'coredns' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'coredns' },
    subjects: [{ kind: 'ServiceAccount', ...dnsName }],
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: dnsName, data: { Corefile: corefile } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: dnsName,
    spec: {
      selector: { matchLabels: dnsLabels },
      template: {
        metadata: { labels: dnsLabels },
        spec: {
          serviceAccountName: 'coredns',
          dnsPolicy: 'Default',
          containers: [
            {
              name: 'coredns',
              image: dnsImage,
              args: ['-conf', '/etc/coredns/Corefile'],
              readinessProbe: { httpGet: { path: '/ready', port: 8181 } },
              volumeMounts: [{ name: 'config', mountPath: '/etc/coredns' }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: 'coredns' } }],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: 'kube-system' },
    spec: {
      clusterIP: addresses.dns,
      selector: dnsLabels,
      ports: ['UDP', 'TCP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 53, protocol })),
    },
  },
];

const storageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'folders', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'kubernetes.io/no-provisioner',
  volumeBindingMode: 'WaitForFirstConsumer',
};

/** A folder as a volume. Its size is not enforced. */
function volume(_: unknown, index: number) {
  const name = `folder-${index}`;
  const path = join(paths.volumes, name);
  mkdirSync(path, { recursive: true });
  const isThisNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [addresses.nodeName] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '20Gi' },
      storageClassName: 'folders',
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [isThisNode] }] } },
    },
  };
}
