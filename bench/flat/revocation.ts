import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { BenchOptions } from '../command-line.ts';
import type { Report } from '../output/report.ts';
import { apiClient } from '../system/api-client.ts';
import { directoryOf, type Identities, issueJwts } from '../system/directory.ts';
import { type Product, startProduct } from '../system/product.ts';
import { startProgram } from '../system/program.ts';
import type { BySize } from './growth.ts';
import { countTokenCopies, insertTokenCopies } from './insert-tokens.ts';
import { type Left, type MeasuredKind, reportOfRevocation, type Times } from './revocation-report.ts';

const sizes = [1_000, 100_000];
/** The deletion afterwards is followed once in each round. */
const rounds = 3;
/** Each removal of a mount needs a mount with its tokens. */
const mountsOfRound = 2;
/**
 * Tokens of which each is the parent of the next one, and the last one of all others: each of them can be revoked, the
 * last one first.
 */
const generations = 25;
/** Policy of the tokens that may have children. */
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

/** A request that revokes `size` tokens, and one of these tokens. */
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
    const kind: MeasuredKind = { name, times: { responded: noTimes(), refused: noTimes() }, deletions: [] };
    for (let round = 1; round <= rounds; round += 1) {
      log(`${name}, round ${round}: inserting tokens`);
      const revocations: Revocation[][] = [];
      for (const size of sizes) revocations.push(await create(setup, size));
      await setup.database.query('vacuum (analyze) login.tokens');
      await revokeInTurn(setup, revocations, kind.times);
      log(`${name}, round ${round}: waiting until the tokens are deleted`);
      kind.deletions.push(await followCleanup(setup.database));
    }
    measured.push(kind);
  }
  return reportOfRevocation(measured, sizes);
}

const noTimes = (): BySize => new Map(sizes.map((size) => [size, []]));

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

let mounts = 0;

async function createMounts({ product, database, logins }: Setup, size: number): Promise<Revocation[]> {
  const { api } = product;
  const revocations: Revocation[] = [];
  for (let at = 0; at < mountsOfRound; at += 1) {
    mounts += 1;
    const mount = `mount-${mounts}`;
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

/** Revokes tokens of each size in turn, and adds when it was responded and when a token was refused, each from the request on. */
async function revokeInTurn(
  { product: { url } }: Setup,
  bySize: Revocation[][],
  times: Times,
): Promise<void> {
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
