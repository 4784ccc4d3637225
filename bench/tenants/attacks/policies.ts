import type { Api } from '../../system/api-client.ts';
import { self } from './bodies.ts';
import { type Named, tokenOf } from './sent.ts';

/** Writes policies as large as are accepted, and returns requests with tokens that have them. */
export async function byPolicies(api: Api): Promise<Named[]> {
  await write(api, 'self', {
    [self]: { capabilities: ['update'] },
    'sys/internal/ui/resultant-acl': { capabilities: ['read'] },
  });
  return [...(await byPlus(api)), ...(await byPaths(api)), ...(await byParameters(api))];
}

const write = (api: Api, name: string, path: Record<string, object>) =>
  api('POST', `sys/policies/acl/${name}`, { policy: JSON.stringify({ path }) });

const times = <T>(length: number, of: (at: number) => T): T[] => Array.from({ length }, (_, at) => of(at));

const plus = 32;

async function byPlus(api: Api): Promise<Named[]> {
  const names = times(8, (at) => `plus-${at}`);
  for (const name of names)
    await write(
      api,
      name,
      Object.fromEntries(times(58, (n) => [`${'+/'.repeat(plus)}${name}-${n}`, { capabilities: ['read'] }])),
    );
  const token = await tokenOf(api, [...names, 'self']);
  return [
    [`refused read, 464 paths of ${plus} +`, { token, method: 'GET', path: `${'a/'.repeat(plus)}y` }],
    [
      `capabilities-self of 60 paths, 464 paths of ${plus} +`,
      { token, path: self, body: JSON.stringify({ paths: times(60, (at) => `${'a/'.repeat(plus)}y${at}`) }) },
    ],
  ];
}

async function byPaths(api: Api): Promise<Named[]> {
  const names = times(3, (at) => `paths-${at}`);
  for (const name of names)
    await write(
      api,
      name,
      Object.fromEntries(times(1_600, (n) => [`${name}/${n}`, { capabilities: ['read'] }])),
    );
  const token = await tokenOf(api, [...names, 'self']);
  return [
    ['resultant-acl of 4,800 paths', { token, method: 'GET', path: 'sys/internal/ui/resultant-acl' }],
    [
      'capabilities-self of 250 paths of 4,000 characters',
      {
        token,
        path: self,
        body: JSON.stringify({ paths: times(250, (at) => `${'a/'.repeat(1_990)}${at}`) }),
      },
    ],
  ];
}

async function byParameters(api: Api): Promise<Named[]> {
  const names = times(40, (at) => `parameters-${at}`);
  for (const name of names)
    await write(api, name, {
      'kv/data/denied': {
        capabilities: ['create', 'update'],
        denied_parameters: { a: times(900, (at) => `${name}-${at}`) },
      },
    });
  const [one, all] = [await tokenOf(api, [names[0]!]), await tokenOf(api, names)];
  const list = JSON.stringify({ a: times(4_900, String) });
  const texts = JSON.stringify({ a: 'a,'.repeat(500_000) });
  const path = 'kv/data/denied';
  return [
    ['4,900 items, 900 denied values', { token: one, path, body: list }],
    ['500,000 items in a text, 900 denied values', { token: one, path, body: texts }],
    ['one field, 36,000 denied values', { token: all, path, body: '{"a":"b"}' }],
  ];
}
