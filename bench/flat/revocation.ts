import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { BenchOptions } from '../command-line.ts';
import type { Report } from '../report.ts';
import { apiClient } from '../system/api-client.ts';
import { directoryOf, type Identities, issueJwts } from '../system/directory.ts';
import { type Product, startProduct } from '../system/product.ts';
import { startProgram } from '../system/program.ts';
import { countTokenCopies, insertTokenCopies } from './insert-tokens.ts';
import { type Left, type MeasuredKind, reportOfRevocation, type Times } from './revocation-report.ts';

const sizes = [1_000, 100_000];
/** Each removal of a mount needs a mount with its tokens. */
const mountsOfSize = 5;
/** Tokens of which each is the parent of the next one, and the last one of all others: each of them can be revoked, the last one first. */
const generations = 25;
/** Of tokens that may have children. */
const familyPolicy = 'bench-family';
const audience = 'https://secrets.example.test';

/** Measures what it takes to revoke many tokens at once, and to delete them afterwards. */
export async function benchRevocation(options: BenchOptions): Promise<Report[]> {
  const sandbox = await startProgram({ source: 'services/sandbox/src/main.ts', env: {} });
  try {
    const product = await startProduct({ ...options, sandboxUrl: sandbox.url });
    const database = new pg.Client({ connectionString: options.servers.databaseUrl });
    await database.connect();
    try {
      const { tenantId } = await directoryOf(sandbox.url);
      const logins = { tenantId, known: await issueJwts(sandbox.url, audience, 1) };
      return [await measure({ product, database, logins }, options.log)];
    } finally {
      await database.end();
      await product.stop();
    }
  } finally {
    await sandbox.stop();
  }
}

interface Setup {
  product: Product;
  database: pg.Client;
  logins: { tenantId: string; known: Identities };
}

/** What revokes tokens, and one of the tokens. */
interface Revocation {
  size: number;
  revoke(): Promise<unknown>;
  token: string;
}

const kinds = [
  { name: 'a token with its children', create: createFamily },
  { name: 'the tokens of an auth mount', create: createMounts },
];

async function measure(setup: Setup, log: BenchOptions['log']): Promise<Report> {
  const measured: MeasuredKind[] = [];
  for (const { name, create } of kinds) {
    const revocations: Revocation[][] = [];
    for (const size of sizes) {
      log(`${name}: inserting ${size} tokens, ${create === createMounts ? mountsOfSize : 1} times`);
      revocations.push(await create(setup, size));
    }
    await setup.database.query('vacuum (analyze) login.tokens');
    const times = await revokeInTurn(setup, revocations);
    log(`${name}: waiting until the tokens are deleted`);
    measured.push({ name, times, left: await followCleanup(setup.database) });
  }
  return reportOfRevocation(measured, sizes);
}

interface Auth {
  client_token: string;
  accessor: string;
}

const authOf = async (response: Promise<unknown>): Promise<Auth> => ((await response) as { auth: Auth }).auth;

/** Returns the revocations of the ancestors of `size` tokens, the closest one first. */
async function createFamily({ product, database }: Setup, size: number): Promise<Revocation[]> {
  const { url, api, rootToken } = product;
  const revocations: Revocation[] = [];
  await api('POST', `sys/policies/acl/${familyPolicy}`, {
    policy: 'path "auth/token/create" { capabilities = ["create", "update"] }',
  });
  let parent = rootToken;
  for (let generation = 0; generation < generations; generation += 1) {
    const create = { policies: [familyPolicy], ttl: '24h' };
    const own = await authOf(apiClient(url, parent)('POST', 'auth/token/create', create));
    const child = await authOf(apiClient(url, own.client_token)('POST', 'auth/token/create', create));
    parent = own.client_token;
    const revoke = () => api('POST', 'auth/token/revoke-accessor', { accessor: own.accessor });
    revocations.unshift({ size, revoke, token: child.client_token });
    if (generation === generations - 1)
      await insertTokenCopies(database, { accessor: child.accessor, count: size });
  }
  return revocations;
}

async function createMounts({ product, database, logins }: Setup, size: number): Promise<Revocation[]> {
  const { api } = product;
  const revocations: Revocation[] = [];
  for (let at = 0; at < mountsOfSize; at += 1) {
    const mount = `of-${size}-${at}`;
    const { principals, jwts } = logins.known;
    await api('POST', `sys/auth/${mount}`, { type: 'cloudB' });
    await api('POST', `auth/${mount}/config`, { tenant_id: logins.tenantId, resource: audience });
    const role = { token_policies: 'default', bound_service_principal_ids: principals, token_ttl: '24h' };
    await api('POST', `auth/${mount}/role/bench`, role);
    const token = await authOf(api('POST', `auth/${mount}/login`, { role: 'bench', jwt: jwts[0] }));
    await insertTokenCopies(database, { accessor: token.accessor, count: size });
    const revoke = () => api('DELETE', `sys/auth/${mount}`);
    revocations.push({ size, revoke, token: token.client_token });
  }
  return revocations;
}

/** Revokes tokens of each size in turn, and measures the response and when a token is refused, each from the request on. */
async function revokeInTurn({ product: { url } }: Setup, bySize: Revocation[][]): Promise<Times> {
  const times: Times = {
    responded: new Map(sizes.map((size) => [size, []])),
    refused: new Map(sizes.map((size) => [size, []])),
  };
  for (const at of bySize[0]!.keys())
    for (const index of bySize.keys()) {
      const { size, revoke, token } = bySize[(at + index) % bySize.length]![at]!;
      const headers = { 'x-service-token': token };
      const lookUp = () => fetch(`${url}/v1/auth/token/lookup-self`, { headers });
      if (!(await lookUp()).ok) throw new Error('a token was refused before it was revoked');
      const began = performance.now();
      await revoke();
      times.responded.get(size)!.push(performance.now() - began);
      while ((await lookUp()).status !== 403);
      times.refused.get(size)!.push(performance.now() - began);
    }
  return times;
}

const minPollMs = 250;
/** Counting is a scan of the table, which must not disturb the deletion. */
const pauseOfCount = 20;

/** Follows the deletion of all revoked tokens. */
async function followCleanup(database: pg.Client): Promise<Left[]> {
  const left: Left[] = [];
  for (;;) {
    const began = performance.now();
    const tokens = await countTokenCopies(database);
    left.push({ at: began, tokens });
    if (tokens === 0) return left;
    await sleep(Math.max(minPollMs, pauseOfCount * (performance.now() - began)));
  }
}
