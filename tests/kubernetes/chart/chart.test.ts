import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments, stringify } from 'yaml';
import { mustRun, run } from '../../clients/run.ts';
import { programFile } from '../install.ts';
import { type Manifest, render } from '../render.ts';
import { validate } from '../schemas/validate.ts';
import { chartFiles, readChartFile, writeChartFile } from './chart-files.ts';

const folder = fileURLToPath(new URL('../../../k8s/chart', import.meta.url));
const helm = (args: string[]) => run(programFile('helm'), args);

/** Renders the chart with these values, as text. */
async function renderChart(values: object): Promise<string> {
  const temporary = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    const file = join(temporary, 'values.yaml');
    writeFileSync(file, stringify(values));
    const release = ['template', 'secrets', folder, '--namespace', 'secrets-service'];
    return await mustRun(programFile('helm'), [...release, '--values', file, '--kube-version', '1.36.0']);
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

const objectsOf = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);

const isTest = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] === 'test';
const byName = (manifests: readonly Manifest[]) =>
  Object.fromEntries(manifests.map((manifest) => [`${manifest.kind} ${manifest.metadata.name}`, manifest]));

/** An object of the overlay as the chart has it: in the namespace of its release, and with names that Helm gives. */
function asInChart(manifest: Manifest): Manifest {
  const text = JSON.stringify(manifest).replaceAll(/"settings-[a-z0-9]{10}"/g, '"settings"');
  const { metadata, ...rest } = JSON.parse(text) as Manifest;
  const { namespace: _, ...own } = metadata;
  if (manifest.kind !== 'Job') return { ...rest, metadata: own };
  const { ttlSecondsAfterFinished: _ttl, ...spec } = rest.spec!;
  return { ...rest, spec, metadata: { ...own, name: `${own.name}-1` } };
}

/** An object of the chart without what only Helm and GitOps tools need. */
function withoutNotes(manifest: Manifest): Manifest {
  const { metadata, ...rest } = structuredClone(manifest);
  if (manifest.kind === 'Job') delete metadata.annotations;
  if (manifest.kind === 'Deployment')
    delete (rest.spec as { template: { metadata: Manifest['metadata'] } }).template.metadata.annotations;
  return { ...rest, metadata };
}

describe('the Helm chart', () => {
  let managed: Manifest[];
  let sources: Manifest[];
  beforeAll(async () => {
    managed = await render('managed');
    const ofRoutes = ['HTTPRoute', 'BackendTLSPolicy', 'ServiceMonitor'];
    const added = (await render('production')).filter(
      ({ kind, metadata }) =>
        ofRoutes.includes(kind) || (kind === 'NetworkPolicy' && metadata.name === 'prometheus'),
    );
    sources = [...managed, ...added];
  });

  test('is what k8s/overlays generates', () => {
    for (const [path, text] of chartFiles(sources)) {
      expect(text).not.toMatch(/image: "?secrets-service|settings-[a-z0-9]{10}|namespace: secrets-service/);
      if (process.env.UPDATE_CHART === '1') writeChartFile(path, text);
      else expect([path, readChartFile(path)]).toEqual([path, text]);
    }
  });

  test('has no faults that helm lint finds', async () => {
    const { code, stdout } = await helm(['lint', '--strict', folder]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('0 chart(s) failed')]);
  });

  test('renders the overlay for managed servers by default', async () => {
    const rendered = objectsOf(await renderChart({})).filter((one) => !isTest(one));
    const expected = managed.filter(({ kind }) => kind !== 'Namespace').map(asInChart);
    expect(byName(rendered.map(withoutNotes))).toEqual(byName(expected));
  });

  test.each([
    ['the defaults', {}],
    [
      'nothing that is optional',
      {
        tls: { enabled: false },
        ingress: { enabled: false },
        networkPolicies: { enabled: false },
        database: { cidrs: [] },
        broker: { cidrs: [] },
      },
    ],
    [
      'everything that is optional',
      {
        image: { registry: 'registry.example.test/team/', tag: '1.2.3', pullSecrets: [{ name: 'pull' }] },
        keys: { prefix: 'other-' },
        httpRoute: { enabled: true },
        monitoring: { enabled: true, labels: { release: 'prometheus' } },
        podAnnotations: { 'example.test/a': 'b' },
        nodeSelector: { pool: 'secrets' },
        tolerations: [{ key: 'secrets', operator: 'Exists' }],
        affinity: { podAntiAffinity: {} },
        extraObjects: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'mine' }, data: { a: '{{ b }}' } },
        ],
        settings: { LOG_LEVEL: 'debug', RECONCILE_SECONDS: '60' },
        services: {
          gateway: { replicas: 3, podLabels: { team: 'a' } },
          'sync-worker-cloudb-kv': {
            serviceAccountAnnotations: { 'azure.workload.identity/client-id': 'x' },
            podLabels: { 'azure.workload.identity/use': 'true' },
          },
        },
      },
    ],
  ])('conforms to the schemas with %s', async (_, values) => {
    const objects = objectsOf(await renderChart(values));
    const resources = await validate(objects.map((one) => stringify(one, { version: '1.1' })).join('---\n'));
    expect(resources.filter(({ status }) => status !== 'statusValid')).toEqual([]);
    expect(resources.length).toBe(objects.length);
    expect(resources.length).toBeGreaterThan(40);
  });

  test('has nothing of what is switched off, and what is set', async () => {
    const off = await renderChart({ tls: { enabled: false }, ingress: { enabled: false } });
    expect(off).not.toContain('gateway-tls');
    expect(off).not.toContain('kind: Ingress\n');
    const set = objectsOf(
      await renderChart({
        keys: { prefix: 'other-' },
        image: { registry: 'registry.example.test/', tag: '1.2.3' },
        settings: { LOG_LEVEL: 'debug' },
        database: { cidrs: ['192.0.2.1/32', '192.0.2.2/32'], port: 6432 },
      }),
    );
    const objects = byName(set);
    expect(JSON.stringify(objects['Deployment login'])).toContain('"secretName":"other-login"');
    expect(JSON.stringify(objects['Deployment login'])).toContain(
      'registry.example.test/secrets-service-login:1.2.3',
    );
    expect(objects['ConfigMap settings']!.data).toMatchObject({
      LOG_LEVEL: 'debug',
      RECONCILE_SECONDS: '300',
    });
    expect(objects['NetworkPolicy to-managed-postgres']!.spec).toMatchObject({
      egress: [
        {
          to: [{ ipBlock: { cidr: '192.0.2.1/32' } }, { ipBlock: { cidr: '192.0.2.2/32' } }],
          ports: [{ port: 6432 }],
        },
      ],
    });
  });

  test('other settings replace the pods', async () => {
    const checksum = async (values: object) =>
      /checksum\/settings: (\S+)/.exec(await renderChart(values))![1];
    expect(await checksum({ settings: { LOG_LEVEL: 'debug' } })).not.toBe(await checksum({}));
    expect(await checksum({ image: { tag: '1.2.3' } })).toBe(await checksum({}));
  });

  test.each([
    [{ settings: { RECONCILE_SECONDS: 60 } }, /settings.*RECONCILE_SECONDS/s],
    [{ ingres: { enabled: true } }, /ingres/],
    [{ image: { registry: 'registry.example.test' } }, /image.*registry/s],
    [{ database: { cidrs: ['10.20.0.10'] } }, /database.*cidrs/s],
    [{ services: { gateway: { replica: 2 } } }, /services.*gateway.*replica/s],
  ])('refuses %j, and names the value', async (values, reason) => {
    await expect(renderChart(values)).rejects.toThrow(reason);
  });
});
