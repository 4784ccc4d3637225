import { globalAgent } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { type Answer, expectStatus, send } from '../harness/http.ts';
import { runSize } from '../harness/run-size.ts';
import {
  type DescribedInstallation,
  sendWithFreshTokens,
  startDescribed,
  withFreshTokens,
} from './described-installation.ts';
import { type HostileRequest, hostileRequestsOf } from './hostile/hostile-requests.ts';
import { isStream, limitsOthers, type Operation, operationsOf, requestsOf } from './operations.ts';
import { counted, sendRequests } from './sent-requests.ts';
import { nearlyValidValues, validValues } from './values-of-schema.ts';

// More with: REQUESTS=200000 npm test -- tests/openapi/random-requests (CONTRIBUTING.md)
const requests = runSize('REQUESTS', 400, 200_000);
const hostileBodies = runSize('BODIES', 100, 20_000);
const seed = Number(process.env.SEED ?? 42);

let described: DescribedInstallation;

beforeAll(async () => {
  described = await startDescribed();
});
afterAll(() => described?.system.stop());

test('the OpenAPI document is valid', async () => {
  expect(await new Validator().validate(described.document as never)).toEqual({ valid: true });
});

/** Refusals that depend on what exists, or on the combination of fields, which a schema cannot express. */
const dependsOnState: readonly RegExp[] = [
  /^check-and-set parameter /,
  /^path: the parent namespace does not exist|^there is no audit device/,
  /no key-value store is mounted|no auth mount of this namespace has it|no group of this namespace has it/,
  /^this auth mount is not configured|^role: does not exist|^the (wrapping token|token role) does not exist/,
  /no entity of this namespace has it|^from: nothing is mounted at/,
  /is not renewable|a batch token cannot/,
  /^client_id is not configured|^there is no client_secret to rotate|^the directory (does not know|refuses) /,
  /^id: must be the ID of what the path names$|^after: must be the `next` of another page of this list$/,
  /is required|must be given together|mutually exclusive|cannot be combined| requires |^requires /,
  /cannot be changed after|is part of the path/,
  // The description of a path below auth mounts has the fields of all types, and the requests are sent to a mount of cloudB.
  /^bound_(issuer|audiences|subject|claims|claims_type|service_account_names|service_account_namespaces): is not supported here/,
  /at least one bound constraint|must not exceed|exceeds/,
  // The database refuses U+0000, which patterns of names that other people choose do not exclude.
  /^the request contains a character that cannot be stored$/,
  // The text is in a language of its own.
  /^(jwt|policy|secret_name_template|credentials|private_key|key_vault_uri): /,
  /must not contain .* twice|becomes the same label|must not contain the destination's own region/,
  /exists in one region only|: excludes |must have a key for|in the location that it is given for/,
];

test('a request that the document permits is refused with 400 only because of what exists', async () => {
  const { system, document, known } = described;
  const api = withFreshTokens(system);
  const refused = new Map<string, string[]>();
  const deletionsLast = operationsOf(document)
    .filter(isSent)
    .sort((one, other) => Number(one.verb === 'delete') - Number(other.verb === 'delete'));
  for (const operation of deletionsLast) {
    const drawn = fc.sample(requestsOf(operation, { values: validValues, known }), {
      numRuns: runSize('EACH', 3, 100),
      seed,
    });
    for (const { operation: name, method, path, body } of drawn) {
      const answer = await api(method, path, body);
      if (answer.status !== 400) continue;
      const sentences = (answer.body.errors as string[]).filter(
        (sentence) => !dependsOnState.some((reason) => reason.test(sentence)),
      );
      if (sentences.length > 0) refused.set(name, [...(refused.get(name) ?? []), ...sentences]);
    }
  }
  expect(Object.fromEntries([...refused].map(([name, all]) => [name, counted(all)]))).toEqual({});
});

test(
  'no request drawn from the document causes a 5xx, hangs, or returns an error without sentences',
  async () => {
    const { system, document, known } = described;
    globalAgent.destroy(); // the server has closed its idle connections meanwhile
    const api = withFreshTokens(system);
    const ofOperation = (operation: Operation) => requestsOf(operation, { values: nearlyValidValues, known });
    await sendRequests(system, {
      ...{ name: 'requests', count: requests, seed },
      drawn: fc.oneof(...operationsOf(document).filter(isSent).map(ofOperation)),
      send: async ({ method, path, body }) => checkedPart({ method, path }, await api(method, path, body)),
      show: ({ operation, method, path, body }) => `${operation}: ${method} ${path} ${JSON.stringify(body)}`,
    });
  },
  Math.max(300_000, requests * 60),
);

/** A response to HEAD has the status alone, and the query of `sys/health` chooses the status. */
function checkedPart({ method, path }: { method: string; path: string }, answer: Answer): Answer {
  if (path.startsWith('sys/health')) return { ...answer, status: 200 };
  return method.toUpperCase() === 'HEAD' ? { ...answer, body: { errors: [] } } : answer;
}

/** Checks of parameters read a body in the gateway, too. */
const restricted = `
  path "*" {
    capabilities = ["create", "read", "update", "patch", "delete", "list"]
    allowed_parameters = { "*" = [], "data" = [] }
    denied_parameters = { "denied" = [], "mount" = ["a*", 1.0] }
  }
  path "auth/token/*" { capabilities = ["deny"] }`;

test(
  'no hostile body causes a 5xx, hangs, or returns an error without sentences',
  async () => {
    const { system, document, known } = described;
    globalAgent.destroy();
    expectStatus(await system.api('POST', 'sys/policies/acl/restricted', { policy: restricted }), 204);
    const { body } = await system.api('POST', 'auth/token/create', { policies: ['restricted'] });
    const sendAs = (token: string | undefined, { method, path, headers, body: bytes }: HostileRequest) => {
      const own = token === undefined ? {} : { 'x-service-token': token };
      return send(`${system.url}/v1/${path}`, method, { headers: { ...headers, ...own }, body: bytes });
    };
    const senders = {
      root: sendWithFreshTokens(system, sendAs),
      restricted: (request: HostileRequest) => sendAs(body.auth.client_token, request),
      nobody: (request: HostileRequest) => sendAs(undefined, request),
    };
    const withBody = operationsOf(document).filter((one) => isSent(one) && one.requestBody !== undefined);
    await sendRequests(system, {
      ...{ name: 'hostile bodies', count: hostileBodies, seed },
      drawn: fc.oneof(
        ...withBody.map((operation) => hostileRequestsOf(operation, { values: validValues, known })),
      ),
      send: (request) => senders[request.as](request),
      show: ({ body: bytes, ...request }) => `${JSON.stringify(request)} ${JSON.stringify(String(bytes))}`,
    });
  },
  Math.max(300_000, hostileBodies * 60),
);

const isSent = (operation: Operation): boolean => !limitsOthers(operation) && !isStream(operation);
