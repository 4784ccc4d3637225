import { request } from 'undici';
import { apiClient } from '../../system/api-client.ts';
import type { Product } from '../../system/product.ts';
import { onFields, onValues, withoutToken } from './bodies.ts';
import { onObjects } from './objects.ts';
import { onPaths } from './paths.ts';
import { byPolicies } from './policies.ts';
import { type Named, type Sent, tokenOf } from './sent.ts';

/** A request that costs its sender little. */
export interface Attack {
  name: string;
  /** Bytes of one request. */
  bytes: number;
  perSecond: number;
  /** Resolves with the status, whatever it is; with 0 if the connection was closed instead. */
  send: () => Promise<number>;
}

const bytesPerSecond = 1_000_000;
/** Small requests are sent no faster: their number is what rate limits are for. */
const maxPerSecond = 25;
const namespace = 'busy';
const closed = 0;

/** Prepares a tenant and returns what it, and somebody without a token, may send. */
export async function prepareAttacks({ url, rootToken, api }: Product): Promise<Attack[]> {
  await api('POST', 'sys/namespaces/busy', {});
  await api('POST', 'sys/auth/cloudB', { type: 'cloudB' });
  const own = apiClient(url, rootToken, namespace);
  await own('POST', 'sys/mounts/kv', { type: 'kv' });
  await own('POST', 'sys/policies/acl/all', {
    policy: 'path "*" { capabilities = ["create", "read", "update", "list"] }',
  });
  const token = await tokenOf(own, ['all']);
  const ordinary = [...onFields, ...onValues, ...(await onPaths(own, token)), ...(await onObjects(own))];
  return [
    ...withoutToken,
    ...ordinary.map(([name, sent]): Named => [name, { token, ...sent }]),
    ...(await byPolicies(own)),
  ].map(([name, sent]) => attackOf(url, name, sent));
}

function attackOf(url: string, name: string, sent: Sent): Attack {
  const { path, body = '', headers = {} } = sent;
  const bytes = 200 + path.length + body.length + JSON.stringify(headers).length;
  const perSecond = Math.max(1, Math.min(maxPerSecond, Math.round(bytesPerSecond / bytes)));
  return { name, bytes, perSecond, send: () => statusOf(url, sent).catch(() => closed) };
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
