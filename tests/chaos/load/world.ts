import { randomBytes } from 'node:crypto';
import { sandboxTypes, templateFor } from '../../harness/destination-types.ts';
import type { Api } from '../../harness/http.ts';
import { type SandboxControl, sandboxControl } from '../../harness/sandbox-control.ts';
import { RetryingClient } from '../../outages/load/retrying-client.ts';
import { type HandPolicy, handPolicies } from '../check/by-hand.ts';
import type { Stage } from '../stage/stage.ts';
import type { Gateway } from './recorder.ts';
import { ruleBody, ruledMount, ruledTypes, rulePath, stillFolder, stillRule } from './rules/ruled.ts';

/** A destination of the load. */
export interface LoadedDestination {
  /** `<type>/<name>` */
  id: string;
  type: string;
  name: string;
  path: string;
  /** The fields with its credentials. */
  fields: object;
}

/** A destination whose external secrets somebody changes by hand. */
export interface TouchedDestination extends LoadedDestination {
  policy: HandPolicy;
}

/** The gateways, destinations and other objects on which the load works. */
export interface World {
  gateways: Gateway[];
  rootToken: string;
  sandbox: SandboxControl;
  /** Repeats a request until it succeeds. */
  api: Api;
  /** The same for an object that may disappear meanwhile: 404 is an answer too, and the refusal during a purge. */
  apiUnlessGone: Api;
  /** Part of every secret value. */
  canary: string;
  /**
   * Secrets that one client writes, one after the other. Their associations stay as they are. So nothing repairs what goes
   * wrong with them, until they are written again or the system is checked.
   */
  coldKeys: readonly string[];
  /** Destinations whose associations and templates change. */
  changing: LoadedDestination[];
  /** Those of the cold keys. */
  still: LoadedDestination[];
  /** Those that are purged and created again. */
  cycled: LoadedDestination[];
  /** Those of the touched keys, whose external secrets somebody changes by hand. */
  touched: TouchedDestination[];
  /** Those that only rules associate secrets with; none without rules. */
  ruled: LoadedDestination[];
  /** A JWT that the login method accepts. */
  jwt: string;
}

export const mount = 'kv';
const role = 'app';
/** Secrets that are written all the time, and whose associations come and go. */
export const hotKeys = Array.from({ length: 6 }, (_, at) => `s${at}`);
/** Enough for a writer to come back to a cold key only after about half a minute. */
const usualColdKeys = 160;
/** Secrets that are written once, and associated with every touched destination: only hands change them. */
export const touchedKeys = ['h0', 'h1', 'h2', 'h3'];
const touchedName = 'touched';
/** Those that are associated with cycled destinations. */
export const cycledKeys = hotKeys.slice(0, 3);
const templates = 3;
const resource = 'https://secrets.example.test';
const principal = '2d3c0f2e-3f5a-4a4b-9f65-0c1f5c8f8a01';

/** Returns the prefix of a destination's external names with one of its templates, in lower case. */
const nameStart = ({ name }: Pick<LoadedDestination, 'name'>, template: number): string =>
  `t${template}${name}x`;

/** The fields that determine its external names, for one of three templates. */
export const shapeOf = ({ type, name }: LoadedDestination, template: number): object => ({
  granularity: 'secret-path',
  secret_name_template: templateFor(
    type,
    `${nameStart({ name }, template % templates)}{{ .SecretBaseName }}`,
  ),
});

const touchedStarts = handPolicies.map((policy) => nameStart({ name: touchedName + policy }, 0));

/** Whether an external secret, by its name in a store, is one of a touched destination. */
export const isTouched = (externalName: string): boolean =>
  touchedStarts.some((start) => externalName.toLowerCase().startsWith(start));

const foreignName = 'theirs';

/** Returns a destination of the same place whose external names belong to somebody else. */
export const withForeignName = (one: LoadedDestination): LoadedDestination => ({
  ...one,
  ...{ id: `${one.type}/${foreignName}`, name: foreignName },
  path: `sys/sync/destinations/${one.type}/${foreignName}`,
});

/** Whether an external secret, by its name in a store, belongs to somebody else. */
export const isForeign = (externalName: string): boolean =>
  externalName.toLowerCase().startsWith(nameStart({ name: foreignName }, 0));

/** All secrets. */
export const keysOf = ({ coldKeys }: World): string[] => [...hotKeys, ...coldKeys, ...touchedKeys];

/** All destinations. */
export const destinationsOf = ({ changing, still, cycled, touched, ruled }: World): LoadedDestination[] => [
  ...changing,
  ...still,
  ...cycled,
  ...touched,
  ...ruled,
];

/** Those of them that exist now. */
export async function existingDestinations(world: World): Promise<LoadedDestination[]> {
  const { body } = await world.api('GET', 'sys/sync/destinations?list=true');
  const names = new Map(Object.entries<string[]>(body.data.key_info));
  return destinationsOf(world).filter(({ type, name }) => names.get(`${type}/`)?.includes(name));
}

/** Number of destinations with which each cold secret is associated. */
const storesPerColdKey = 2;

/** The associations that stay as they are. */
export const stillAssociations = ({
  still,
  coldKeys,
  touched,
}: World): { destination: LoadedDestination; key: string }[] => [
  ...coldKeys.flatMap((key, at) =>
    Array.from({ length: storesPerColdKey }, (_, nth) => ({
      destination: still[(at + nth) % still.length]!,
      key,
    })),
  ),
  ...touched.flatMap((destination) => touchedKeys.map((key) => ({ destination, key }))),
];

export interface WorldOptions {
  /** Number of secrets that are written seldom; by default enough for a long run. */
  coldKeys?: number;
  /** The drift policies of the touched destinations. A service of an older revision may know only `report`. */
  policies?: readonly HandPolicy[];
  /** Whether there are rules; by default not. */
  withRules?: boolean;
}

/** Creates the mount, the login method and the destinations, and writes each secret once. */
export async function createWorld(
  { system }: Stage,
  { coldKeys = usualColdKeys, policies = handPolicies, withRules = false }: WorldOptions,
): Promise<World> {
  const sandbox = sandboxControl(system.sandboxUrl);
  const { request: api, requestUnlessGone: apiUnlessGone } = new RetryingClient(system);
  const canary = `canary${randomBytes(6).toString('hex')}`;
  await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  await api('POST', `${mount}/config`, { max_versions: 10_000 });
  await allowLogin(api, sandbox);
  const changing = await destinationsNamed(sandbox, 'changing');
  const still = await destinationsNamed(sandbox, 'still');
  const cycled = await destinationsNamed(sandbox, 'cycled');
  const touched = (await Promise.all(policies.map((policy) => touchedWith(sandbox, policy)))).flat();
  const ruled = (withRules ? await destinationsNamed(sandbox, 'ruled') : []).filter(({ type }) =>
    ruledTypes.includes(type),
  );
  for (const one of [...changing, ...still, ...cycled, ...touched, ...ruled])
    await api('POST', one.path, { ...one.fields, ...shapeOf(one, 0) });
  await writeStillRules(api, ruled);
  const gateways = [system.processes.gateway, system.processes['gateway-2']!];
  const jwt = await sandbox.issueToken({ audience: resource, oid: principal });
  return {
    gateways,
    rootToken: system.rootToken,
    sandbox,
    api,
    apiUnlessGone,
    canary,
    coldKeys: Array.from({ length: coldKeys }, (_, at) => `s${at + hotKeys.length}`),
    changing,
    still,
    cycled,
    touched,
    ruled,
    jwt,
  };
}

const destinationsNamed = (sandbox: SandboxControl, name: string): Promise<LoadedDestination[]> =>
  Promise.all(
    sandboxTypes.map(async ({ type, fields }) => ({
      id: `${type}/${name}`,
      type,
      name,
      path: `sys/sync/destinations/${type}/${name}`,
      fields: fields(await sandbox.store(type)),
    })),
  );

async function writeStillRules(api: Api, ruled: readonly LoadedDestination[]): Promise<void> {
  if (ruled.length > 0)
    await api('POST', `sys/mounts/${ruledMount}`, { type: 'kv', options: { version: '2' } });
  for (const [nth, one] of ruled.entries())
    await api(
      'POST',
      rulePath(one, stillRule),
      ruleBody({ path: `${stillFolder(nth)}/*`, metadata_match: {} }),
    );
}

async function touchedWith(sandbox: SandboxControl, policy: HandPolicy): Promise<TouchedDestination[]> {
  const destinations = await destinationsNamed(sandbox, touchedName + policy);
  const fields = policy === 'report' ? {} : { drift_policy: policy };
  return destinations.map((one) => ({ ...one, policy, fields: { ...one.fields, ...fields } }));
}

async function allowLogin(api: Api, sandbox: SandboxControl): Promise<void> {
  const { tenant_id } = await sandbox.directory();
  const policy = `path "${mount}/data/*" { capabilities = ["read"] }`;
  await api('POST', 'sys/policies/acl/app', { policy });
  await api('POST', 'sys/auth/app', { type: 'cloudB' });
  await api('POST', 'auth/app/config', { tenant_id, resource });
  await api('POST', `auth/app/role/${role}`, {
    policies: 'app',
    bound_service_principal_ids: [principal],
    token_ttl: '1h',
  });
}
