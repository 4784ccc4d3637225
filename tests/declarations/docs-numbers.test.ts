import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { destinationTypes } from '@secrets/destinations';
import { Env as Gateway } from '../../services/gateway/src/config.ts';
import { Env as Login } from '../../services/login/src/config.ts';
import { Env as Secrets } from '../../services/secrets/src/config.ts';
import { workers } from '../../services/setup/src/database-roles.ts';
import { backgroundConnections } from '../../services/sync-control/src/app.ts';
import { Env as SyncControl } from '../../services/sync-control/src/config.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const types = Object.keys(destinationTypes).length;

/** The numbers of connections in the calls of a file that open a pool, in their order. */
const poolsIn = (file: string) => [...read(file).matchAll(/connections: (\d+)/g)].map(([, n]) => Number(n));
const defaultPool = Number(
  /options\.connections \?\? (\d+)/.exec(read('libs/db/src/connections/open-postgres.ts'))?.[1],
);
const [secretsBackground] = poolsIn('services/secrets/src/main.ts');
const [waiting, unblocked] = poolsIn('libs/sync-worker/src/runtime/run-worker.ts');
const standalone = poolsIn('services/standalone/src/open-databases.ts');
const more = Number(
  /backgroundConnections \+ (\d+)/.exec(read('services/standalone/src/open-databases.ts'))?.[1],
);
const perType = 2;
const base = backgroundConnections - perType * types;

const replicas = { scaled: 6, worker: 5, fixed: 2 };
const sum =
  2 * replicas.scaled * defaultPool + replicas.fixed * (2 * defaultPool + secretsBackground! + base);
const sumOfType = replicas.worker * (waiting! + unblocked!) + replicas.fixed * perType;

const sentences: [page: string, sentence: string][] = [
  ['docs/operations/troubleshooting.md', `| gateway, login | ${defaultPool} |`],
  ['docs/operations/troubleshooting.md', `| secrets | ${defaultPool} | ${secretsBackground} |`],
  [
    'docs/operations/troubleshooting.md',
    `| sync-control | ${defaultPool} | ${base}, and ${perType} for each destination type |`,
  ],
  [
    'docs/operations/troubleshooting.md',
    `| ${waiting} for statements that may wait for a lock, ${unblocked} for those that do not |`,
  ],
  [
    'docs/operations/troubleshooting.md',
    `| standalone | ${standalone[0]} | ${base + more}, and ${perType} for each destination type |`,
  ],
  [
    'docs/operations/troubleshooting.md',
    `| ${standalone[1]} for the worker's statements that may wait for a lock, ${standalone[2]} for its others |`,
  ],
  ['docs/kubernetes.md', `the services open ${sum}, and ${sumOfType} for each type`],
];

/** Writes a sentence in the place of the one that differs only in its numbers. */
function update(page: string, sentence: string): void {
  const anyNumbers = sentence.replace(/[|()*.+?]/g, '\\$&').replace(/\d+/g, '\\d+');
  writeFileSync(page, read(page).replace(new RegExp(anyNumbers), sentence));
}
// After a change of the tasks in the background: UPDATE_NUMBERS=1 npm test -- --no-rabbitmq tests/declarations/docs-numbers
if (process.env.UPDATE_NUMBERS === '1') for (const each of sentences) update(...each);

test.each(sentences)('%s counts database connections as the code does: %s', (page, sentence) => {
  expect(read(page)).toContain(sentence);
});

test('the manifests have as many replicas as the count of connections assumes', () => {
  const numbers = (file: string) =>
    [...read(`k8s/${file}`).matchAll(/^ *(?:replicas|maxReplica\w+): (\d+)$/gm)].map(([, n]) => Number(n));
  expect(new Set(numbers('overlays/production/autoscaling.yaml'))).toEqual(new Set([replicas.scaled]));
  expect(new Set(numbers('overlays/production/scaled-workers.yaml'))).toEqual(new Set([replicas.worker]));
  for (const service of ['secrets', 'sync-control'])
    expect([service, ...numbers(`base/${service}.yaml`)]).toEqual([service, replicas.fixed]);
});

const versionIn = (file: string, pattern: RegExp) => pattern.exec(read(file))?.[1] ?? `no version in ${file}`;
const kubernetesVersions = 'tests/kubernetes/versions.ts';

test.each([
  `| Node | ${versionIn('package.json', /"node": "([\d.]+)"/)}, which`,
  `| PostgreSQL | ${versionIn('libs/db/src/embedded/data-folder.ts', /majorVersion = '(\d+)'/)}, embedded, in all tests; \`${versionIn('docker-compose.yml', /image: (postgres:\S+)/)}\` with Compose |`,
  `; \`${versionIn('docker-compose.yml', /image: (rabbitmq:\S+)/)}\` with Compose |`,
  `| Kubernetes | ${versionIn(kubernetesVersions, /kubernetesVersion = '([\d.]+)'/)}: `,
  `| Helm | ${versionIn(kubernetesVersions, /helm@(v[\d.]+)/)}: `,
  `| kustomize | ${versionIn(kubernetesVersions, /kustomize\/v\d+@(v[\d.]+)/)} |`,
  `; \`${versionIn('docker-compose.yml', /image: (prom\/prometheus:\S+)/)}\` with Compose |`,
])('the page of supported versions has what the tests use: %s', (text) => {
  expect(read('docs/support.md')).toContain(text);
});

const environments: Record<
  string,
  { shape: Record<string, { safeParse(value: unknown): { data?: unknown } }> }
> = {
  gateway: Gateway,
  login: Login,
  secrets: Secrets,
  'sync-control': SyncControl,
  ...Object.fromEntries(
    await Promise.all(
      workers.map(async (worker) => [worker, (await import(`../../services/${worker}/src/config.ts`)).Env]),
    ),
  ),
};
const page = 'docs/operations/settings.md';
const settings = read(page)
  .split('\n')
  .filter((line) => /^\| `[A-Z]/.test(line))
  .join('\n');
const rows = settings
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter((cells) => cells.length === 6);

/** Returns the default that the page states for a variable of a service. */
const statedDefault = (service: string, name: string) =>
  rows.find(
    ([, names, services]) =>
      names!.includes(`\`${name}\``) &&
      (services === 'all' ||
        services!.includes(service) ||
        (services!.includes('workers') && service.includes('worker'))),
  )?.[3];

test.each(Object.entries(environments))(
  'the settings page has a row for each variable of %s, with its default',
  (service, { shape }) => {
    for (const [name, schema] of Object.entries(shape)) {
      expect([name, settings.includes(`\`${name}\``)]).toEqual([name, true]);
      const value = schema.safeParse(undefined).data;
      if (typeof value !== 'number' && typeof value !== 'string') continue;
      const stated = statedDefault(service, name)?.replace(/(\d),(\d{3})/g, '$1$2') ?? `no row of ${name}`;
      expect(
        `${page}, ${name}: ${stated.split(/[\s,;`]+/).find((word) => word === String(value)) ?? stated}`,
      ).toBe(`${page}, ${name}: ${value}`);
    }
  },
);
