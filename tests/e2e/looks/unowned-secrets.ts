import { randomBytes } from 'node:crypto';
import { sandboxTypes, templateFor } from '../../harness/destination-types.ts';
import { eventually } from '../../harness/eventually.ts';
import { type Api, expectStatus } from '../../harness/http.ts';
import type { Installation } from '../../harness/installation.ts';
import { associatedSecrets } from '../../harness/sync-fixture.ts';

/** A destination, external secrets in its store without an owner, and an empty mount to import them into. */
export interface Unowned {
  type: string;
  destination: string;
  /** `sys/sync/destinations/<type>/<destination>` */
  path: string;
  /** The mount to import into. */
  mount: string;
  /** The names of the external secrets, in the order of their values. The path of the first one is `s0`. */
  names: string[];
  /** Imports all of them to their paths, or what the body says. */
  start(body?: object, api?: Api): ReturnType<Api>;
  /** The import, when it has ended. */
  ended(timeoutMs?: number): Promise<ImportProgress>;
  progress(): Promise<ImportProgress>;
}

interface ImportProgress {
  state: string;
  error: string | null;
  counts: Record<string, number>;
  external_secrets: (Record<'external_name' | 'path' | 'result' | 'reason' | 'association', string | null> & {
    written: boolean;
  })[];
}

/**
 * Creates an external secret for each value, as somebody does beside the service; null for one that the service has pushed and
 * let go of. `fields` are those of the destination.
 */
export async function createUnowned(
  { api, sandbox }: Pick<Installation, 'api' | 'sandbox'>,
  type: string,
  values: readonly (string | null)[],
  fields: object = {},
): Promise<Unowned> {
  const tag = randomBytes(4).toString('hex');
  const path = `sys/sync/destinations/${type}/d-${tag}`;
  for (const mount of [`kv-${tag}`, `in-${tag}`])
    expectStatus(await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } }), 204);
  const ofStore = sandboxTypes.find((one) => one.type === type)!.fields(await sandbox.store(type));
  const secret_name_template = templateFor(type, `x${tag}{{ .SecretPath }}`);
  const settings = { granularity: 'secret-path', secret_name_template, conflict_policy: 'overwrite' };
  expectStatus(await api('POST', path, { ...ofStore, ...settings, ...fields }), 200);
  const names = await pushAndKeep(api, { path, mount: `kv-${tag}`, tag, count: values.length });
  for (const [index, value] of values.entries())
    if (value !== null) await sandbox.changeByHand(type, names[index]!, 'recreate', value);
  const mount = `in-${tag}`;
  const mapping = { mount, path: `{{ .ExternalName | lowercase | trimprefix "x${tag}" }}`, dry_run: false };
  const progress = async () => expectStatus(await api('GET', `${path}/import?limit=1000`), 200).body.data;
  return {
    type,
    destination: `d-${tag}`,
    path,
    mount,
    names,
    start: (body = { names }, as = api) => as('POST', `${path}/import`, { ...mapping, ...body }),
    progress,
    ended: (timeoutMs = 30_000) => eventually(progress, ({ state }) => state !== 'running', timeoutMs),
  };
}

/** Pushes secrets, and lets go of them. Returns their external names. */
async function pushAndKeep(
  api: Api,
  { path, mount, tag, count }: { path: string; mount: string; tag: string; count: number },
): Promise<string[]> {
  const secrets = Array.from({ length: count }, (_, index) => ({ mount, secret_name: `s${index}` }));
  for (const secret of secrets) {
    expectStatus(await api('POST', `${mount}/data/${secret.secret_name}`, { data: { own: 'x' } }), 200);
    expectStatus(await api('POST', `${path}/associations/set?wait=0`, secret), 200);
  }
  const associated = async () =>
    Object.values(associatedSecrets(await api('GET', `${path}/associations?limit=1000`)));
  const lines = await eventually(
    associated,
    (all) => all.length === count && all.every((one) => one.sync_status === 'SYNCED'),
    60_000,
  );
  const named = lines.map((line) => line.external_name);
  const names = secrets.map(
    ({ secret_name }) => named.find((name) => name.toLowerCase() === `x${tag}${secret_name}`)!,
  );
  for (const secret of secrets)
    expectStatus(await api('POST', `${path}/associations/remove?keep=true&wait=0`, secret), 200);
  await eventually(associated, (all) => all.length === 0, 60_000);
  return names;
}

/** The lines of an import, in short: path, result, and what became of its association or why not. */
export const inShort = ({ external_secrets: lines }: ImportProgress): string[] =>
  lines.map((line) =>
    [line.path, line.result, line.written ? 'written' : undefined, line.association, line.reason]
      .filter((part) => part !== null && part !== undefined)
      .join(' '),
  );
