import { randomUUID } from 'node:crypto';
import type { Api } from '../system/api-client.ts';
import { forEach } from '../system/api-client.ts';

/** Harmful load of a tenant beside the one that is measured, and ordinary load at the same pace to compare it with. */
export interface Neighbour {
  name: string;
  perSecond: number;
  /** Makes the same number of requests as `harmful`, without effects on other tenants. */
  ordinary: () => Promise<unknown>;
  harmful: () => Promise<unknown>;
}

export interface NeighbourApi {
  /** Requests in the namespace of the neighbour, as an operator. */
  api: Api;
  /** The same with another token. */
  apiOf: (token: string) => Api;
}

const largePolicies = ['large-0', 'large-1', 'large-2'];
const pathsEach = 1_650;

/** Creates policies and tokens, and returns what a neighbour can do. */
export async function prepareNeighbours({ api, apiOf }: NeighbourApi): Promise<Neighbour[]> {
  await api('POST', 'sys/policies/acl/small', policyOf('small', 5));
  for (const [at, name] of largePolicies.entries())
    await api('POST', `sys/policies/acl/${name}`, policyOf(String(at), pathsEach));
  const newToken = async (policies: string[], more: object = {}): Promise<string> => {
    const { auth } = (await api('POST', 'auth/token/create', { policies, ...more })) as {
      auth: { client_token: string };
    };
    return auth.client_token;
  };
  const lookUp = (token: string) => apiOf(token)('GET', 'auth/token/lookup-self');
  const uses = { num_uses: 1_000_000 };
  const [limitedSmall, limitedLarge] = [await newToken(['small'], uses), await newToken(largePolicies, uses)];
  const [smallReader, largeReader] = [await newToken(['small', 'changing']), await newToken(largePolicies)];
  return [
    {
      name: 'requests with a token that has limited uses and 4,950 paths',
      perSecond: 50,
      ordinary: () => lookUp(limitedSmall),
      harmful: () => lookUp(limitedLarge),
    },
    {
      name: 'a new token with 4,950 paths, and a request with it',
      perSecond: 10,
      ordinary: async () => lookUp(await newToken(['small'])),
      harmful: async () => lookUp(await newToken(largePolicies)),
    },
    {
      name: 'another set of policies with 3,300 paths in each request',
      perSecond: 20,
      ordinary: () => lookUp(smallReader),
      harmful: await differentSets(api, newToken, lookUp),
    },
    {
      name: 'a policy written, and a request with 4,950 paths that it concerns',
      perSecond: 5,
      ordinary: async () => {
        await api('POST', 'sys/policies/acl/changing', policyOf(randomUUID(), 5));
        await lookUp(smallReader);
      },
      harmful: async () => {
        await api('POST', 'sys/policies/acl/large-2', policyOf(randomUUID(), 5));
        await lookUp(largeReader);
      },
    },
    {
      name: 'tokens created and revoked',
      perSecond: 50,
      ordinary: async () => api('POST', 'auth/token/lookup', { token: await newToken(['small']) }),
      harmful: async () => api('POST', 'auth/token/revoke', { token: await newToken(['small']) }),
    },
  ];
}

/** Requests with tokens of which no two in 100 have the same policies: more than a gateway keeps. */
async function differentSets(
  api: Api,
  newToken: (policies: string[]) => Promise<string>,
  lookUp: (token: string) => Promise<unknown>,
): Promise<() => Promise<unknown>> {
  const extras = Array.from({ length: 100 }, (_, at) => `extra-${at}`);
  await forEach(extras, 4, (name) => api('POST', `sys/policies/acl/${name}`, policyOf(name, 1)));
  const tokens: string[] = [];
  for (const name of extras) tokens.push(await newToken(['large-0', 'large-1', name]));
  let next = 0;
  return () => lookUp(tokens[next++ % tokens.length]!);
}

const policyOf = (prefix: string, paths: number) => ({
  policy: JSON.stringify({
    path: Object.fromEntries([
      ['auth/token/lookup-self', { capabilities: ['read'] }],
      ...Array.from({ length: paths - 1 }, (_, at) => [`${prefix}/${at}`, { capabilities: ['read'] }]),
    ]),
  }),
});
