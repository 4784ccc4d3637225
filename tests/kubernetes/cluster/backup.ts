import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './images.ts';
import { apply, kubectl } from './kubectl.ts';

/** A key pair of age, created with the library that `setup` uses. */
export async function createAgeKeys(): Promise<{ identity: string; recipient: string }> {
  const library = createRequire(join(root, 'services/setup/package.json')).resolve('age-encryption');
  const { generateIdentity, identityToRecipient } = await import(library);
  const identity: string = await generateIdentity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** Runs the CronJob at once. Returns the path of its archive in the pod. */
export async function runBackup(namespace: string): Promise<string> {
  const job = 'backup-now';
  await kubectl(['create', 'job', '-n', namespace, job, '--from=cronjob/setup-backup']);
  await kubectl(['wait', '-n', namespace, '--for=condition=Complete', '--timeout=10m', `job/${job}`]);
  const log = await kubectl(['logs', '-n', namespace, `job/${job}`]);
  const [, file] = /"file":"([^"]+[.]age)"/.exec(log) ?? [];
  if (file === undefined) throw new Error(`no archive is named in:\n${log}`);
  return file;
}

/** Copies an archive from the volume of one namespace and restores it into the empty database of another one. */
export async function restoreInto(
  namespace: string,
  source: string,
  file: string,
  identity: string,
): Promise<string> {
  const identitySecret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'backup-identity', namespace },
  };
  await apply([{ ...identitySecret, stringData: { identity } }]);
  await runIdle(await idlePod(source, source, ({ name }) => name !== 'keys'));
  await runIdle(withKeys(await idlePod(source, namespace, ({ name }) => name !== 'backups')));
  const archive = await inPod(source, ['base64', '-w0', file]);
  await inPod(namespace, ['sh', '-c', 'base64 -d > /data/archive.age'], archive);
  const env = [
    'BACKUP_FILE=/data/archive.age',
    'BACKUP_IDENTITY_FILE=/run/identity/identity',
    `SEAL_KEY_FILES=${sealed.map((name) => `/run/keys-${name}/seal.key`).join()}`,
    'ROW_KEY_FILE=/run/keys-login/row.key',
  ];
  const restored = await inPod(namespace, ['env', ...env, 'node', 'src/main.js', 'restore']);
  for (const one of [source, namespace]) await kubectl(['delete', 'pod', '-n', one, idle, '--wait=false']);
  const [, rows] = /"rows":(\d+)/.exec(restored) ?? [];
  return `an archive of ${Math.round((archive.length * 0.75) / 1024)} KiB, ${rows} rows`;
}

const idle = 'backup-tool';
const sealed = ['login', 'secrets', 'sync-control'];

interface IdlePod {
  metadata: { name: string; namespace: string; labels: Record<string, string> };
  spec: {
    containers: { command: string[]; volumeMounts: { name: string; mountPath: string }[] }[];
    volumes: { name: string; [kind: string]: unknown }[];
  };
}

/** Returns the pod of the CronJob of `source`, but idle. Of its volumes, those that `isKept` refuses are empty. */
async function idlePod(
  source: string,
  namespace: string,
  isKept: (volume: { name: string }) => boolean,
): Promise<IdlePod> {
  const cronJob = await kubectl(['get', 'cronjob', '-n', source, 'setup-backup', '-o', 'json']);
  const { metadata, spec } = JSON.parse(cronJob).spec.jobTemplate.spec.template as IdlePod;
  const [container] = spec.containers;
  return {
    metadata: { ...metadata, name: idle, namespace },
    spec: {
      ...spec,
      containers: [{ ...container!, command: ['sleep', 'infinity'] }],
      volumes: spec.volumes.map((volume) => (isKept(volume) ? volume : { name: volume.name, emptyDir: {} })),
    },
  };
}

/** Adds the files that `restore` needs. */
function withKeys(pod: IdlePod): IdlePod {
  const [container] = pod.spec.containers;
  const secrets = [...sealed.map((name) => `keys-${name}`), 'backup-identity'];
  const pathOf = (secret: string) => (secret === 'backup-identity' ? '/run/identity' : `/run/${secret}`);
  const mounts = secrets.map((name) => ({ name, mountPath: pathOf(name), readOnly: true }));
  const volumes = secrets.map((name) => ({ name, secret: { secretName: name, defaultMode: 0o400 } }));
  const mounted = { ...container!, volumeMounts: [...container!.volumeMounts, ...mounts] };
  return {
    ...pod,
    spec: {
      ...pod.spec,
      serviceAccountName: 'default',
      containers: [mounted],
      volumes: [...pod.spec.volumes, ...volumes],
    } as IdlePod['spec'],
  };
}

async function runIdle(pod: IdlePod): Promise<void> {
  await apply([{ apiVersion: 'v1', kind: 'Pod', ...pod }]);
  await kubectl([
    'wait',
    '-n',
    pod.metadata.namespace,
    '--for=condition=Ready',
    '--timeout=5m',
    `pod/${idle}`,
  ]);
}

const inPod = (namespace: string, command: string[], input?: string): Promise<string> =>
  kubectl(['exec', '-n', namespace, ...(input === undefined ? [] : ['-i']), idle, '--', ...command], input);

const apiScript = `
const { method, path, token, body } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const scheme = process.env.TLS_CERT_FILE ? 'https' : 'http';
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
fetch(scheme + '://127.0.0.1:8200/v1/' + path, { method, headers: { 'x-service-token': token, 'content-type': 'application/json' }, body })
  .then(async (answer) => console.log(JSON.stringify({ status: answer.status, body: await answer.text() })));
`;

/** Sends a request to a gateway from its own pod, where it needs no certificate. Throws unless it succeeds. */
export async function requestInside(
  namespace: string,
  token: string,
  method: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: the parsed body
): Promise<any> {
  const input = JSON.stringify({ method, path, token, body: body && JSON.stringify(body) });
  const args = ['exec', '-i', '-n', namespace, 'deployment/gateway', '--', 'node', '-e', apiScript];
  const line = (await kubectl(args, input)).trim().split('\n').at(-1)!;
  const answer = JSON.parse(line) as { status: number; body: string };
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
  return answer.body === '' ? undefined : JSON.parse(answer.body);
}
