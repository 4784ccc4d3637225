import type { Api } from '../../system/api-client.ts';
import type { Named } from './sent.ts';

/** Creates a small secret, and returns requests without a body whose path, query or headers are long. */
export async function onPaths(api: Api, token: string): Promise<Named[]> {
  await api('POST', 'kv/data/small', { data: { a: 'b' } });
  return requests(token);
}

const requests = (token: string): Named[] => [
  ['a query of 7,000 parameters', { method: 'GET', path: `kv/data/small?${'a&'.repeat(7_000)}` }],
  ['a query of 100 parameters of 150 characters', { method: 'GET', path: `kv/data/small?${longQuery}` }],
  ['a path of 15,000 characters', { method: 'GET', path: `kv/data/${'a'.repeat(15_000)}` }],
  ['a path of 5,000 encoded letters', { method: 'GET', path: `kv/data/${'%61'.repeat(5_000)}` }],
  ['a path of 1,000 segments', { method: 'GET', path: `kv/data/${'a/'.repeat(999)}a` }],
  ['a namespace of 7,000 segments', { method: 'GET', path: 'kv/data/small', headers: deepNamespace }],
  ['900 headers', { method: 'GET', path: 'kv/data/small', headers: manyHeaders }],
  [
    'a header of 20,000 characters',
    { method: 'GET', path: 'kv/data/small', headers: { x: 'x'.repeat(20_000) } },
  ],
  [
    'an unknown token of 8,000 characters',
    { method: 'GET', path: 'kv/data/small', token: 'x'.repeat(8_000) },
  ],
  [
    'a token by three names',
    {
      method: 'GET',
      path: 'kv/data/small',
      headers: { 'x-vault-token': token, authorization: `bearer ${token}` },
    },
  ],
];

const longQuery = Array.from({ length: 100 }, (_, at) => `k${at}=${'%61'.repeat(48)}`).join('&');
const deepNamespace = { 'x-vault-namespace': 'a/'.repeat(7_000), 'x-service-namespace': 'a/'.repeat(7) };
const manyHeaders = Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`x-${at}`, 'x']));
