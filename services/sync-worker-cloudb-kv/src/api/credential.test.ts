import { createHttpHeaders, type HttpClient, type PipelineRequest } from '@azure/core-rest-pipeline';
import { describe, expect, test } from '@jest/globals';
import { cloudBKv } from '@secrets/destinations';
import type { Fault, FaultKind } from '@secrets/domain';
import type { Refusal } from '@secrets/sync-worker';
import { retriesOf } from '@secrets/sync-worker/testing';
import { credentialFor } from './credential.ts';
import { refusals } from './refusals.ts';

const slowly = '60 s to 3600 s';
const afterLimit = '1 s to 300 s';
const afterOutage = '1 s to 600 s';

const federation =
  'no federated credential of the application has the issuer, subject and audience of the identity token (CODE); compare them; a new one takes effect within minutes';

/**
 * The error codes that the directory documents, on the pages that `refusals.ts` names, with the status and the consequences: the
 * kind of the fault, when the entry is tried again, and `last_error`. The last one is not in the table.
 */
const documented: [number, number, FaultKind, string, string][] = [
  [
    7000215,
    401,
    'unauthenticated',
    slowly,
    'client_secret is wrong (CODE); write the value of the secret, not its ID',
  ],
  [
    7000222,
    401,
    'unauthenticated',
    slowly,
    'client_secret has expired (CODE); create another one at the app registration, and write it',
  ],
  [
    700016,
    400,
    'unauthenticated',
    slowly,
    'the tenant has no application with this client_id (CODE); check client_id and tenant_id',
  ],
  [
    90002,
    400,
    'unauthenticated',
    slowly,
    'there is no such tenant in the configured cloud (CODE); check tenant_id and cloud',
  ],
  [
    900023,
    400,
    'unauthenticated',
    slowly,
    'there is no such tenant in the configured cloud (CODE); check tenant_id and cloud',
  ],
  [
    7000112,
    401,
    'unauthenticated',
    slowly,
    'the application is disabled in the tenant (CODE); enable it there',
  ],
  [
    500011,
    400,
    'unauthenticated',
    slowly,
    'the tenant does not know key vaults as a resource (CODE); check tenant_id and cloud',
  ],
  [
    53003,
    400,
    'unauthenticated',
    slowly,
    'a policy for conditional access blocks the application (CODE); exclude the application, or permit the address of the worker',
  ],
  [70021, 401, 'unauthenticated', slowly, federation],
  [700211, 401, 'unauthenticated', slowly, federation],
  [700212, 401, 'unauthenticated', slowly, federation],
  [700213, 401, 'unauthenticated', slowly, federation],
  [
    700024,
    401,
    'unauthenticated',
    slowly,
    'the identity token is not valid at this time (CODE); check the clocks of login and of the directory',
  ],
  [50196, 400, 'throttled', afterLimit, 'too many requests for tokens (CODE)'],
  [90055, 429, 'throttled', afterLimit, 'too many requests for tokens (CODE)'],
  [90033, 503, 'unavailable', afterOutage, 'the directory is unavailable (CODE)'],
  [
    50105,
    400,
    'unauthenticated',
    slowly,
    'the credentials were not accepted (CODE); write a valid client_secret, or check the federated credential',
  ],
];

/** A directory that refuses each request for a token. */
const refusing = (status: number, code: number): HttpClient => ({
  async sendRequest(request: PipelineRequest) {
    const body = { error: 'canary', error_description: `AADSTS${code}: canary`, error_codes: [code, 1] };
    return { request, status, headers: createHttpHeaders(), bodyAsText: JSON.stringify(body) };
  },
});

const settings = { ...cloudBKv.defaults, tenant_id: 't', client_id: 'c' };

describe.each([
  ['a client secret', {}],
  ['an identity token', { identity_token_audience: 'api://exchange' }],
] as const)('a request for a token with %s that is refused', (_title, over) => {
  test.each(documented)(
    'with AADSTS%i and status %i is %s, tried again %s: %s',
    async (code, status, kind, retries, sentence) => {
      const identity = { clientSecret: 'canary', identityToken: async () => 'canary' };
      const credential = credentialFor({ ...settings, ...over }, identity, refusing(status, code));
      const fault = await credential
        .getToken('https://vault.azure.net/.default')
        .catch((thrown: unknown) => thrown);
      const message = `requesting a token: ${sentence.replace('CODE', `AADSTS${code}`)}`;
      expect(fault).toMatchObject({ name: 'Fault', kind, message });
      expect(retriesOf(fault as Fault)).toBe(retries);
    },
  );
});

test('each documented refusal of the directory is the first that matches an error of this list, with each of its codes', () => {
  const isOfDirectory = ({ code, text }: Refusal) => /AADSTS/.test(`${code} ${text?.source}`);
  const table = refusals
    .filter(isOfDirectory)
    .flatMap(({ code = ['another'], kind, sentence, remedy }) =>
      code.map((one) => [one, kind, remedy === undefined ? sentence : `${sentence}; ${remedy}`]),
    );
  const listed = documented.map(([code, , kind, , says], index) => [
    index === documented.length - 1 ? 'another' : `AADSTS${code}`,
    kind,
    says.replace(' (CODE)', ''),
  ]);
  expect(listed).toEqual(table);
});
