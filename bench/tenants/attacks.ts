import { request } from 'undici';
import { type Api, apiClient } from '../system/api-client.ts';
import type { Product } from '../system/product.ts';

/** A request that costs its sender little. */
export interface Attack {
  name: string;
  /** Bytes of one request. */
  bytes: number;
  perSecond: number;
  /** Resolves with the status, whatever it is. */
  send: () => Promise<number>;
}

const bytesPerSecond = 1_000_000;
/** Small requests are sent no faster: their number is what rate limits are for. */
const maxPerSecond = 25;
const namespace = 'busy';

interface Sent {
  method?: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: string;
  headers?: Record<string, string>;
  token?: string;
}

/** Prepares a tenant and returns what it, and somebody without a token, may send. */
export async function prepareAttacks({ url, rootToken, api }: Product): Promise<Attack[]> {
  await api('POST', 'sys/namespaces/busy', {});
  await api('POST', 'sys/auth/cloudB', { type: 'cloudB' });
  const own = apiClient(url, rootToken, namespace);
  await own('POST', 'sys/mounts/kv', { type: 'kv' });
  await own('POST', 'sys/policies/acl/all', {
    policy: 'path "*" { capabilities = ["create", "read", "update"] }',
  });
  const token = await tokenOf(own, ['all']);
  const keys = await writeLargest(own);
  const plus = await writePlusPolicies(own);
  const plusToken = await tokenOf(own, [...plus.names, 'self']);
  return [
    ...withoutToken,
    ...[...onFields, ...onValues, readOf(keys)].map(([name, sent]): Named => [name, { token, ...sent }]),
    ...byPolicies(plus.count).map(([name, sent]): Named => [name, { token: plusToken, ...sent }]),
  ].map(([name, sent]) => attackOf(url, name, sent));
}

type Named = [name: string, sent: Sent];

const self = 'sys/capabilities-self';
const fields = (count: number, value: string): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":${value}`).join(',')}}`;
const data = (value: string): string => `{"data":{"a":${value}}}`;

const withoutToken: Named[] = [
  ['login, 12,000 unknown fields', { path: 'auth/cloudB/login', body: fields(12_000, '1') }],
  ['login, 65,000 levels', { path: 'auth/cloudB/login', body: `{"role":"a","jwt":${'['.repeat(65_000)}` }],
];

const onFields: Named[] = [
  [
    'capabilities-self, 80,000 unknown fields',
    { path: self, body: `{"paths":["a"],${fields(80_000, '1').slice(1)}` },
  ],
  ['capabilities-self, 500,000 commas', { path: self, body: `{"paths":"${'a,'.repeat(500_000)}"}` }],
  [
    'custom_metadata of 4,900 keys',
    { path: 'kv/metadata/a', body: `{"custom_metadata":${fields(4_900, '1')}}` },
  ],
  ['4,900 versions that are none', { path: 'kv/destroy/a', body: `{"versions":[${'{},'.repeat(4_899)}1]}` }],
  ['500,000 versions in a text', { path: 'kv/destroy/a', body: `{"versions":"${'1,'.repeat(500_000)}"}` }],
  [
    'wrap, 4,900 fields',
    { path: 'sys/wrapping/wrap', body: fields(4_900, '1'), headers: { 'x-service-wrap-ttl': '60' } },
  ],
  [
    'a policy with 15,000 values of a parameter',
    {
      method: 'PUT',
      path: 'sys/policies/acl/json',
      body: JSON.stringify({
        policy: `{"path":{"a":{"allowed_parameters":{"x":[${'1,'.repeat(15_000)}1]}}}}`,
      }),
    },
  ],
  ['a query of 7,000 parameters', { method: 'GET', path: `kv/data/a?${'a&'.repeat(7_000)}` }],
];

const onValues: Named[] = [
  ['value of 240,000 numbers', { path: 'kv/data/a', body: data(`[${'1.0,'.repeat(240_000)}1]`) }],
  [
    'value of 500,000 levels',
    { path: 'kv/data/a', body: data(`${'['.repeat(500_000)}${']'.repeat(500_000)}`) },
  ],
  ['value of 4,900 numbers', { path: 'kv/data/a', body: data(`[${'1.0,'.repeat(4_899)}1]`) }],
  ['value of 4,900 fields', { path: 'kv/data/a', body: `{"data":${fields(4_900, '"x"')}}` }],
  ['value of 1 MB', { path: 'kv/data/a', body: data(`"${'\\n'.repeat(500_000)}"`) }],
];

const readOf = (keys: number): Named => [
  `subkeys of ${keys} keys`,
  { method: 'GET', path: 'kv/subkeys/large' },
];

const byPolicies = (plus: number): Named[] => [
  [`refused read, 464 paths of ${plus} +`, { method: 'GET', path: `${'a/'.repeat(plus)}y` }],
  [
    `capabilities-self of 60 paths, 464 paths of ${plus} +`,
    {
      path: self,
      body: JSON.stringify({
        paths: Array.from({ length: 60 }, (_, at) => `${'a/'.repeat(plus)}y${at}`),
      }),
    },
  ],
];

function attackOf(url: string, name: string, sent: Sent): Attack {
  const { path, body = '', headers = {} } = sent;
  const bytes = 200 + path.length + body.length + JSON.stringify(headers).length;
  const perSecond = Math.max(1, Math.min(maxPerSecond, Math.round(bytesPerSecond / bytes)));
  return { name, bytes, perSecond, send: () => statusOf(url, sent) };
}

async function tokenOf(api: Api, policies: string[]): Promise<string> {
  const { auth } = (await api('POST', 'auth/token/create', { policies })) as {
    auth: { client_token: string };
  };
  return auth.client_token;
}

/** Writes the largest secret that is accepted, and returns the number of its keys. */
async function writeLargest(api: Api): Promise<number> {
  const write = (count: number) => api('POST', 'kv/data/large', JSON.parse(`{"data":${fields(count, '1')}}`));
  return write(80_000).then(
    () => 80_000,
    async () => {
      await write(4_900);
      return 4_900;
    },
  );
}

/** Writes 464 paths with as many `+` as are accepted in one. */
async function writePlusPolicies(api: Api): Promise<{ names: string[]; count: number }> {
  await api('POST', 'sys/policies/acl/self', {
    policy: 'path "sys/capabilities-self" { capabilities = ["update"] }',
  });
  const write = async (count: number) => {
    const names = Array.from({ length: 8 }, (_, at) => `plus-${at}`);
    for (const [at, name] of names.entries()) {
      const paths = Array.from({ length: 58 }, (_, n) => [
        `${'+/'.repeat(count)}x${at}-${n}`,
        { capabilities: ['read'] },
      ]);
      await api('POST', `sys/policies/acl/${name}`, {
        policy: JSON.stringify({ path: Object.fromEntries(paths) }),
      });
    }
    return { names, count };
  };
  return write(500).catch(() => write(32));
}

async function statusOf(url: string, { method = 'POST', path, body, headers, token }: Sent): Promise<number> {
  const response = await request(`${url}/v1/${path}`, {
    method,
    body: body ?? null,
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(token === undefined ? {} : { 'x-service-token': token, 'x-service-namespace': namespace }),
    },
  });
  await response.body.dump({ limit: 2 ** 30 });
  return response.statusCode;
}
