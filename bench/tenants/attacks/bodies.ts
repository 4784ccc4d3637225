import type { Named } from './sent.ts';

export const self = 'sys/capabilities-self';
/** An object with so many fields. */
export const fields = (count: number, value: string): string =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":${value}`).join(',')}}`;
const data = (value: string): string => `{"data":{"a":${value}}}`;

export const withoutToken: Named[] = [
  ['login, 12,000 unknown fields', { path: 'auth/cloudB/login', body: fields(12_000, '1') }],
  ['login, 65,000 levels', { path: 'auth/cloudB/login', body: `{"role":"a","jwt":${'['.repeat(65_000)}` }],
];

export const onFields: Named[] = [
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
];

export const onValues: Named[] = [
  ['value of 240,000 numbers', { path: 'kv/data/a', body: data(`[${'1.0,'.repeat(240_000)}1]`) }],
  [
    'value of 500,000 levels',
    { path: 'kv/data/a', body: data(`${'['.repeat(500_000)}${']'.repeat(500_000)}`) },
  ],
  ['value of 4,900 numbers', { path: 'kv/data/a', body: data(`[${'1.0,'.repeat(4_899)}1]`) }],
  ['value of 4,900 fields', { path: 'kv/data/a', body: `{"data":${fields(4_900, '"x"')}}` }],
  ['value of 1 MB', { path: 'kv/data/a', body: data(`"${'\\n'.repeat(500_000)}"`) }],
];
