import { stringify } from 'yaml';
import type { Manifest } from '../render.ts';

/** An object as Kubernetes describes it, of any kind. */
// biome-ignore lint/suspicious/noExplicitAny: the shapes of all kinds, which the schemas of the tests check
type Json = any;

/** One entry of `services` in the chart's values. */
interface ServiceValues {
  replicas: number;
  resources: Json;
  serviceAccountAnnotations: Record<string, string>;
  podLabels: Record<string, string>;
}

/** Kinds whose objects are only there if a value says so. */
const conditions: Record<string, string> = {
  NetworkPolicy: '.Values.networkPolicies.enabled',
  CronJob: '.Values.backup.enabled',
  PersistentVolumeClaim: '.Values.backup.enabled',
  Ingress: '.Values.ingress.enabled',
  HTTPRoute: '.Values.httpRoute.enabled',
  BackendTLSPolicy: 'and .Values.httpRoute.enabled .Values.tls.enabled',
  ServiceMonitor: '.Values.monitoring.enabled',
};

/** Network policies that other values also decide. */
const policyConditions: Record<string, string> = {
  prometheus: 'and .Values.networkPolicies.enabled .Values.monitoring.enabled',
  'to-managed-postgres': 'and .Values.networkPolicies.enabled .Values.database.cidrs',
  'to-managed-rabbitmq': 'and .Values.networkPolicies.enabled .Values.broker.cidrs',
  'to-managed-rabbitmq-api': 'and .Values.networkPolicies.enabled .Values.broker.cidrs',
};

/** A value of the template language. In a place of its own, it is not quoted. */
const expression = (text: string): string => `«{{ ${text} }}»`;

/** The only field of a map, or a field among others, in whose place lines of the template language are written. */
type Block = Record<string, string>;

/** @param lines in which INDENT is the number of spaces before the field */
const block = (...lines: string[]): Block => ({ [`«${lines.join('¶')}»`]: '' });

/** The fields, or the items, of a value. */
const all = (value: string): Block => block(`{{- toYaml ${value} | nindent INDENT }}`);

/** The fields of a value that may be empty. */
const more = (value: string): Block =>
  block(`{{- with ${value} }}`, '{{- toYaml . | nindent INDENT }}', '{{- end }}');

/** A field with a map or a list from the values; absent if that is empty. */
const optional = (field: string, value: string): Block =>
  block(`{{- with ${value} }}`, `${field}: {{- toYaml . | nindent INNER }}`, '{{- end }}');

/**
 * Returns the templates of the Helm chart by the names of their files, made from rendered manifests: what a user changes is a
 * value there, and everything else stays as it is.
 */
export function generateTemplates(manifests: readonly Manifest[]): Map<string, string> {
  const files = new Map<string, string[]>();
  for (const manifest of manifests) {
    if (['Namespace', 'ConfigMap'].includes(manifest.kind)) continue;
    const file = fileOf(manifest);
    const condition =
      manifest.kind === 'NetworkPolicy'
        ? (policyConditions[manifest.metadata.name] ?? conditions.NetworkPolicy)
        : conditions[manifest.kind];
    const text = textOf(parametrised(structuredClone(manifest)));
    const guarded = condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`;
    files.set(file, [...(files.get(file) ?? []), guarded]);
  }
  const mark =
    '# Generated from k8s/overlays by tests/kubernetes/chart: UPDATE_CHART=1 npm run kubernetes -- chart\n';
  return new Map(
    [...files].map(([file, texts]) => [file, `${mark}${texts.map((text) => `---\n${text}`).join('')}`]),
  );
}

/** Objects of a service have a file of their own; the others are together by kind. */
function fileOf({ kind, metadata }: Manifest): string {
  if (kind === 'NetworkPolicy') return 'network-policies.yaml';
  if (['Job', 'CronJob', 'PersistentVolumeClaim'].includes(kind)) return 'setup.yaml';
  if (['Ingress', 'HTTPRoute', 'BackendTLSPolicy'].includes(kind)) return 'routes.yaml';
  if (kind === 'ServiceMonitor') return 'monitoring.yaml';
  return `${metadata.name.replace(/^sync-worker-/, 'workers/')}.yaml`;
}

/** Returns what the services have in the chart's values by default. */
export const serviceValues = (manifests: readonly Manifest[]): Record<string, ServiceValues> =>
  Object.fromEntries(
    (manifests as Json[])
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ metadata, spec }) => [
        metadata.name,
        {
          replicas: spec.replicas,
          resources: spec.template.spec.containers[0].resources,
          serviceAccountAnnotations: {},
          podLabels: {},
        },
      ]),
  );

/** Returns the settings that the manifests have by default. */
export const settingValues = (manifests: readonly Manifest[]): Record<string, string> =>
  manifests.find(({ kind }) => kind === 'ConfigMap')!.data!;

function parametrised(manifest: Json): Json {
  delete manifest.metadata.namespace;
  const change = changes[manifest.kind];
  return change === undefined ? manifest : (change(manifest) ?? manifest);
}

const changes: Record<string, (manifest: Json) => void> = {
  Deployment: (manifest) => {
    const { name } = manifest.metadata;
    const values = `(index .Values.services "${name}")`;
    manifest.spec.replicas = expression(`${values}.replicas`);
    const { template } = manifest.spec;
    template.metadata.annotations = {
      'checksum/settings': expression('include (print $.Template.BasePath "/settings.yaml") . | sha256sum'),
      ...more('.Values.podAnnotations'),
    };
    Object.assign(template.metadata.labels, more(`${values}.podLabels`));
    template.spec.containers[0].resources = all(`${values}.resources`);
    changePod(template.spec, name);
  },
  Job: (manifest) => {
    const { name } = manifest.metadata;
    // A finished Job cannot be changed: each revision has its own, and Helm deletes that of the one before.
    manifest.metadata.name = expression(`printf "${name}-%d" .Release.Revision`);
    manifest.metadata.annotations = {
      'argocd.argoproj.io/hook': 'Sync',
      'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
    };
    delete manifest.spec.ttlSecondsAfterFinished;
    changePod(manifest.spec.template.spec, 'setup');
  },
  CronJob: ({ spec }) => {
    spec.schedule = expression('.Values.backup.schedule | quote');
    changePod(spec.jobTemplate.spec.template.spec, 'setup');
  },
  PersistentVolumeClaim: ({ spec }) => {
    spec.resources.requests.storage = expression('.Values.backup.storage | quote');
    Object.assign(
      spec,
      block('{{- with .Values.backup.storageClassName }}', 'storageClassName: {{ . | quote }}', '{{- end }}'),
    );
  },
  ServiceAccount: (manifest) => {
    const { name } = manifest.metadata;
    if (name !== 'setup')
      Object.assign(
        manifest.metadata,
        optional('annotations', `(index .Values.services "${name}").serviceAccountAnnotations`),
      );
  },
  NetworkPolicy: ({ metadata, spec }) => {
    const addresses = (values: string) =>
      block(`{{- range .Values.${values}.cidrs }}`, '- ipBlock: { cidr: {{ . | quote }} }', '{{- end }}');
    const servers: Record<string, [values: string, port: string]> = {
      'to-managed-postgres': ['database', '.Values.database.port'],
      'to-managed-rabbitmq': ['broker', '.Values.broker.port'],
      'to-managed-rabbitmq-api': ['broker', '.Values.broker.apiPort'],
    };
    const server = servers[metadata.name];
    if (server !== undefined) {
      spec.egress[0].to = addresses(server[0]);
      spec.egress[0].ports[0].port = expression(server[1]);
    }
    if (metadata.name === 'gateway') spec.ingress[0].from = all('.Values.networkPolicies.clients');
    if (metadata.name === 'prometheus') spec.ingress[0].from = all('.Values.monitoring.prometheus');
  },
  Ingress: (manifest) => {
    const host = expression('.Values.ingress.host | quote');
    manifest.metadata.annotations = all('.Values.ingress.annotations');
    manifest.spec.ingressClassName = expression('.Values.ingress.className | quote');
    manifest.spec.tls = [{ hosts: [host], secretName: expression('.Values.ingress.tlsSecretName | quote') }];
    manifest.spec.rules[0].host = host;
  },
  HTTPRoute: ({ spec }) => {
    spec.parentRefs = all('.Values.httpRoute.parentRefs');
    spec.hostnames = [expression('.Values.httpRoute.host | quote')];
  },
  BackendTLSPolicy: ({ spec }) => {
    spec.validation = { ...spec.validation, hostname: expression('.Values.httpRoute.host | quote') };
    delete spec.validation.wellKnownCACertificates;
    Object.assign(spec.validation, all('.Values.httpRoute.backendCertificates'));
  },
  ServiceMonitor: ({ metadata }) => void Object.assign(metadata.labels, more('.Values.monitoring.labels')),
};

/** Images, Secrets, the ConfigMap, and where pods run. */
function changePod(pod: Json, service: string): void {
  const [container] = pod.containers;
  container.image = expression(`include "image" (list $ "${service}") | quote`);
  container.imagePullPolicy = expression('.Values.image.pullPolicy');
  for (const variable of container.env) {
    const setting = variable.valueFrom?.configMapKeyRef;
    if (setting !== undefined) setting.name = 'settings';
  }
  for (const volume of pod.volumes)
    if (volume.secret?.secretName.startsWith('keys-'))
      volume.secret.secretName = expression(
        `printf "%s${volume.secret.secretName.slice(5)}" .Values.keys.prefix | quote`,
      );
  if (service === 'gateway') onlyWithTls(pod);
  Object.assign(
    pod,
    optional('imagePullSecrets', '.Values.image.pullSecrets'),
    optional('nodeSelector', '.Values.nodeSelector'),
    optional('tolerations', '.Values.tolerations'),
    optional('affinity', '.Values.affinity'),
  );
}

/** Makes what belongs to the certificate of the gateway depend on whether there is one. */
function onlyWithTls(pod: Json): void {
  const [container] = pod.containers;
  const guarded = (items: Json[], isOfTls: (item: Json) => boolean) => [
    block('{{- if .Values.tls.enabled }}'),
    ...items.filter(isOfTls),
    block('{{- end }}'),
    ...items.filter((item) => !isOfTls(item)),
  ];
  container.env = guarded(container.env, ({ name }) => name.startsWith('TLS_'));
  container.volumeMounts = guarded(container.volumeMounts, ({ name }) => name === 'tls');
  pod.volumes = guarded(pod.volumes, ({ name }) => name === 'tls');
  const certificate = pod.volumes.find((volume: Json) => volume.name === 'tls');
  certificate.secret.secretName = expression('.Values.tls.secretName | quote');
}

/** Writes an object, with its expressions and blocks. */
const textOf = (manifest: Json): string =>
  stringify(manifest, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })
    .replaceAll(
      /^( *)(?:- )?(?:\? )?(['"]?)«([^»{]*\{\{-[^»]*)»\2(?:: ?""|\n *: "")?$/gm,
      (_all, indent, quote, lines) =>
        unquoted(lines, quote)
          .split('¶')
          .map((line) => `${indent}${line}`)
          .join('\n')
          .replaceAll('INDENT', String(indent.length))
          .replaceAll('INNER', String(indent.length + 2)),
    )
    .replaceAll(/(['"]?)«([^»]*)»\1/g, (_all, quote, text) => unquoted(text, quote));

const unquoted = (text: string, quote: string): string =>
  quote === '"' ? text.replaceAll('\\"', '"') : quote === "'" ? text.replaceAll("''", "'") : text;
