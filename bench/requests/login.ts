import type { BenchOptions } from '../command-line.ts';
import { loginSteps, stepRows } from '../limits/login-steps.ts';
import { alternate, columns, type Load, type Runs, rowsOf, type Side, shareOf } from '../load/alternate.ts';
import type { Report } from '../output/report.ts';
import { type Directory, directoryOf, issueJwts } from '../system/directory.ts';
import { type Product, startProduct } from '../system/product.ts';
import { startProgram, stopPrograms } from '../system/program.ts';

const audience = 'https://secrets.example.test';
const identities = 50;
/** Minimum throughput, as a share of the skeleton's. */
const minShare = 0.75;
/** Minimum throughput of the method `jwt`, as a share of `cloudB`'s. */
const minShareOfJwt = 0.95;
const path = '/v1/auth/bench/login';
const ofJwt = 'product with the method jwt';

/** Measures logins with a JWT, compared with a skeleton: bare express with `jose` and one insert. */
export async function benchLogin(options: BenchOptions): Promise<Report[]> {
  const programs = [await startProgram({ source: 'services/sandbox/src/main.ts', env: {} })];
  const sandboxUrl = programs[0]!.url;
  let product: Product | undefined;
  try {
    product = await startProduct({ ...options, sandboxUrl });
    const directory = await directoryOf(sandboxUrl);
    const { principals, jwts } = await issueJwts(sandboxUrl, audience, identities);
    await prepare(product, directory.tenantId, principals);
    await prepareJwt(product, directory, principals);
    const bodies = jwts.map((jwt) => JSON.stringify({ role: 'bench', jwt }));
    const { databaseUrl } = options.servers;
    const service = await startProgram({
      source: 'bench/skeleton/login.ts',
      env: {
        DATABASE_URL: databaseUrl,
        AUDIENCE: audience,
        KEYS_URL: directory.keysUrl,
        ISSUER: directory.issuer,
      },
    });
    programs.unshift(service);
    const gateway = await startProgram({
      source: 'bench/skeleton/gateway.ts',
      env: { DATABASE_URL: databaseUrl, UPSTREAM_URL: service.url, TOKENS: 'none' },
    });
    programs.unshift(gateway);
    const own = { url: product.url, pids: [product.pids.gateway, product.pids.login] };
    const sides: Side[] = [
      { name: 'product', ...own },
      { name: ofJwt, ...own },
      { name: 'skeleton', url: gateway.url, pids: [gateway.pid, service.pid] },
    ];
    const headers = { 'content-type': 'application/json' };
    const job = ({ name }: Side) => {
      const paths = [name === ofJwt ? '/v1/auth/jwt/login' : path];
      return { method: 'POST' as const, headers, paths, bodies };
    };
    const kind: Load = { name: 'login', job };
    const runs = await alternate(sides, kind, options);
    const steps = await loginSteps({ jwts, audience, databaseUrl, ...directory }, options);
    const rows = [...rowsOf(kind.name, runs), ...stepRows(steps, runs.get('product')!)];
    const figures = [shareOf(kind.name, runs, 'skeleton', minShare), shareOfJwt(runs)];
    const measured = { ...Object.fromEntries(runs), ...steps };
    return [{ title: 'Logins with a JWT', columns, rows, notes, measured, figures }];
  } finally {
    await product?.stop();
    await stopPrograms(programs);
  }
}

/** Compares the method `jwt` with `cloudB`, which verifies the same tokens. */
const shareOfJwt = (runs: Runs) => {
  const inverse: Runs = new Map([
    [ofJwt, runs.get(ofJwt)!],
    ['method cloudB', runs.get('product')!],
  ]);
  return shareOf('login with the method jwt', inverse, 'method cloudB', minShareOfJwt);
};

const notes = [
  `32 connections, ${identities} identities, RS256; one gateway and one login process each, on one Postgres`,
  'method jwt: the same JWTs, whose claims a role binds',
  'skeleton: bare Express and undici, which verify with jose and store the token with one insert',
  'alone: the same calls in a loop, 32 at once, in a process without HTTP',
];

/** Creates everything that a login of these identities needs. */
async function prepare({ api }: Product, tenantId: string, principals: string[]): Promise<void> {
  await api('POST', 'sys/auth/bench', { type: 'cloudB' });
  await api('POST', 'auth/bench/config', { tenant_id: tenantId, resource: audience });
  const policy = 'path "bench/data/*" { capabilities = ["read"] }';
  await api('POST', 'sys/policies/acl/bench', { policy });
  const role = { policies: 'bench', bound_service_principal_ids: principals, token_ttl: '1h' };
  await api('POST', 'auth/bench/role/bench', role);
}

/** Creates a mount of the method `jwt`, which admits the same identities. */
async function prepareJwt(
  { api }: Product,
  { keysUrl, issuer }: Directory,
  principals: string[],
): Promise<void> {
  await api('POST', 'sys/auth/jwt', { type: 'jwt' });
  await api('POST', 'auth/jwt/config', { jwks_url: keysUrl, bound_issuer: issuer });
  await api('POST', 'auth/jwt/role/bench', {
    role_type: 'jwt',
    bound_audiences: [audience],
    bound_claims: { oid: principals },
    user_claim: 'oid',
    policies: 'bench',
    token_ttl: '1h',
  });
}
