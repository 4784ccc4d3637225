import type { BenchOptions } from '../command-line.ts';
import type { Side } from '../load/alternate.ts';
import type { Api } from '../system/api-client.ts';
import { type Directory, directoryOf, type Identities, issueJwts } from '../system/directory.ts';
import { startProduct } from '../system/product.ts';
import { startProgram } from '../system/program.ts';
import { allowJwtLogins } from './jwt-logins.ts';
import { startOpenBao } from './openbao.ts';
import { type NpmStart, npmStart, type Ready, readyWithoutNpm } from './standalone-peer.ts';

/** One of the servers that are compared, prepared for the same requests as the others. */
export interface PeerSide extends Side {
  /** The names of its processes, in the order of `pids`. */
  processes: string[];
  /** The token that may read and write secrets, as a header. */
  headers: Record<string, string>;
  /** Logs in as `role` with the product's method `cloudB`; of OpenBao, with `jwt`. */
  loginPath: string;
  /** Calls it as its root user. */
  api: Api;
}

/** All sides, and what is known about the standalone service. */
export interface Sides {
  sides: PeerSide[];
  standalone: NpmStart;
  /** How fast the program of `npm start` is ready without npm. */
  readyWithoutNpm: Ready;
  jwts: string[];
  stop(): Promise<void>;
}

/** The names of the sides, as printed. */
export const names = {
  distributed: 'distributed',
  standalone: 'standalone',
  raft: 'OpenBao on raft',
  postgres: 'OpenBao on Postgres',
  tunedPostgres: 'OpenBao on Postgres, tuned',
} as const;

export const role = 'bench';
/** Logs in as `role` with the method `jwt`, on every side. */
export const jwtLoginPath = 'auth/jwt/login';
/** The mount of the secrets. */
export const mount = 'kv';
const audience = 'https://secrets.example.test';
const identities = 50;
const policy = `path "${mount}/*" { capabilities = ["create", "read", "update"] }`;

/** Starts every side on this machine. OpenBao only if `hasOpenBao`. */
export async function startSides(options: BenchOptions, hasOpenBao: boolean): Promise<Sides> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each();
  };
  try {
    return { ...(await start(options, hasOpenBao, stops)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: BenchOptions,
  hasOpenBao: boolean,
  stops: (() => Promise<void>)[],
): Promise<Omit<Sides, 'stop'>> {
  const sandbox = await startProgram({ source: 'services/sandbox/src/main.ts', env: {} });
  stops.push(sandbox.stop);
  const directory = await directoryOf(sandbox.url);
  const known = await issueJwts(sandbox.url, audience, identities);
  const started = async <Server extends { stop(): Promise<void> }>(starting: Promise<Server>) => {
    const server = await starting;
    stops.push(server.stop);
    return server;
  };
  const directoryUrl = `${sandbox.url}/directory`;
  const withoutNpm = await readyWithoutNpm(directoryUrl);
  const standalone = await started(npmStart(directoryUrl));
  const common = { standalone, readyWithoutNpm: withoutNpm, jwts: known.jwts };
  const product = await started(startProduct({ ...options, sandboxUrl: sandbox.url }));
  const { postgresPid } = options.servers;
  const postgres = postgresPid === undefined ? [] : [['Postgres', postgresPid] as const];
  const sides = [
    await productSide(product, names.distributed, { directory, known }, [
      ...Object.entries(product.pids),
      ...postgres,
    ]),
    await productSide(standalone, names.standalone, { directory, known }, [['all', standalone.pid]]),
  ];
  if (!hasOpenBao) return { sides, ...common };
  const raft = await started(startOpenBao('raft'));
  sides.push(await openBaoSide(raft, names.raft, { directory, known }, [['bao', raft.pid]]));
  for (const [name, tuning] of onPostgres) {
    const databaseUrl = await options.servers.createDatabase();
    const server = await started(startOpenBao({ databaseUrl, ...tuning }));
    const processes = [['bao', server.pid] as const, ...postgres];
    sides.push(await openBaoSide(server, name, { directory, known }, processes));
  }
  return { sides, ...common };
}

/** With its default of two idle connections, OpenBao opens one for almost every statement under load. */
const onPostgres = [
  [names.postgres, {}],
  [names.tunedPostgres, { idleConnections: 32 }],
] as const;

interface Server {
  url: string;
  api: Api;
}

interface Users {
  directory: Directory;
  known: Identities;
}

type Processes = (readonly [string, number])[];

async function productSide(
  { url, api }: Server,
  name: string,
  { directory, known }: Users,
  processes: Processes,
): Promise<PeerSide> {
  await prepareSecrets(api);
  await api('POST', 'sys/auth/cloudb', { type: 'cloudB' });
  await api('POST', 'auth/cloudb/config', { tenant_id: directory.tenantId, resource: audience });
  await api('POST', `auth/cloudb/role/${role}`, {
    token_policies: role,
    token_ttl: '1h',
    bound_service_principal_ids: known.principals,
  });
  await allowJwtLogins(api, { role, policy: role, audience, principals: known.principals, directory });
  const prepared = { name, processes, loginPath: 'auth/cloudb/login', header: 'x-service-token' };
  return sideOf({ url, api }, known, prepared);
}

async function openBaoSide(
  { url, api }: Server,
  name: string,
  { directory, known }: Users,
  processes: Processes,
): Promise<PeerSide> {
  await prepareSecrets(api);
  await allowJwtLogins(api, { role, policy: role, audience, principals: known.principals, directory });
  const prepared = { name, processes, loginPath: jwtLoginPath, header: 'x-vault-token' };
  return sideOf({ url, api }, known, prepared);
}

async function prepareSecrets(api: Api): Promise<void> {
  await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  await api('POST', `sys/policies/acl/${role}`, { policy });
}

async function sideOf(
  { url, api }: Server,
  { jwts }: Identities,
  {
    name,
    processes,
    loginPath,
    header,
  }: Record<'name' | 'loginPath' | 'header', string> & {
    processes: Processes;
  },
): Promise<PeerSide> {
  const { auth } = (await api('POST', loginPath, { role, jwt: jwts[0] })) as {
    auth: { client_token: string };
  };
  return {
    name,
    url,
    pids: processes.map(([, pid]) => pid),
    processes: processes.map(([process]) => process),
    headers: { [header]: auth.client_token },
    loginPath: `/v1/${loginPath}`,
    api,
  };
}
