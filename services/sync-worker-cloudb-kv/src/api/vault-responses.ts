import type { HttpClient, PipelineRequest, PipelineResponse } from '@azure/core-rest-pipeline';
import { Fault, type FaultKind } from '@secrets/domain';
import {
  codedFault,
  malformedResponse,
  networkFault,
  providerFault,
  retryAfterSeconds,
} from '@secrets/sync-worker';
import { z } from 'zod';

/** The permission that a call needs, by which messages name the call. */
const permissions: Readonly<Record<string, string>> = {
  'GET secrets': 'Get',
  'PUT secrets': 'Set',
  'PATCH secrets': 'Set',
  'DELETE secrets': 'Delete',
  'GET deletedsecrets': 'Get',
  'POST deletedsecrets': 'Recover',
  'DELETE deletedsecrets': 'Purge',
};

/** Codes whose kind does not follow from the status, inner ones included (https://learn.microsoft.com/azure/key-vault/general/rest-error-codes). */
const kinds: ReadonlyMap<string, FaultKind> = new Map<string, FaultKind>([
  ['Throttled', 'throttled'],
  ['ObjectIsBeingDeleted', 'not_ready'],
  ['ObjectIsBeingRecovered', 'not_ready'],
  ['ObjectIsBeingPurged', 'not_ready'],
  ['Conflict', 'not_ready'],
]);

/** Codes that the operator understands only with an explanation. */
const explained: ReadonlyMap<string, readonly [FaultKind, string]> = new Map([
  ['ForbiddenByFirewall', ['forbidden', "the vault's firewall refuses the address of the worker"]],
  [
    'ForbiddenByConnection',
    ['forbidden', 'the vault permits only private connections, and the worker has none'],
  ],
  ['SecretDisabled', ['rejected', 'the secret is disabled in the vault; enable or delete it there']],
]);

const code = z.string().regex(/^[A-Za-z]{3,64}$/);
const ErrorBody = z.object({
  error: z.object({ code: code.optional(), innererror: z.object({ code: code.optional() }).optional() }),
});
const Bundle = z.object({ id: z.string() });

/**
 * Throws the failures of a vault as faults, so that the SDK does not have to parse them. What passes is a success, or a challenge that the SDK
 * answers with a token.
 * @param audience the only one that a challenge may ask a token for; any, if undefined
 */
export const withFaults = (httpClient: HttpClient, audience: string | undefined): HttpClient => ({
  async sendRequest(request) {
    const response = await httpClient.sendRequest(request).catch((error: Error) => {
      throw networkFault(operationOf(request), error) ?? error;
    });
    const fault = faultOfResponse(request, response, audience);
    if (fault) throw fault;
    return response;
  },
});

/** Names the call by the permission that it needs. */
function operationOf({ method, url }: Pick<PipelineRequest, 'method' | 'url'>): string {
  const [, collection = ''] = new URL(url).pathname.split('/');
  return permissions[`${method} ${collection}`] ?? method;
}

/** Undefined if the response is not a failure. A refused token has the code `Unauthorized`. */
function faultOfResponse(
  request: PipelineRequest,
  response: PipelineResponse,
  audience: string | undefined,
): Fault | undefined {
  const { status } = response;
  const operation = operationOf(request);
  if (status === 401 && isChallenge(request, response)) return challengeFault(response, audience);
  if (status >= 400) return errorFault(operation, response);
  const isExpected =
    status === 204 || (status === 200 && Bundle.safeParse(parseJson(response.bodyAsText)).success);
  return isExpected ? undefined : malformedResponse(operation, status);
}

/** The SDK sends its first request without a token, and answers a demand for further claims. */
function isChallenge({ headers: sent }: PipelineRequest, { headers }: PipelineResponse): boolean {
  const challenge = headers.get('www-authenticate');
  return challenge !== undefined && (!sent.has('authorization') || challenge.includes('insufficient_claims'));
}

/** A token is requested only for the vaults of the configured cloud. */
function challengeFault({ headers }: PipelineResponse, audience: string | undefined): Fault | undefined {
  const challenge = headers.get('www-authenticate') ?? '';
  if (audience === undefined || challenge.includes('insufficient_claims')) return undefined;
  const asked = /\b(?:resource|scope)="?([^",\s]+)/i.exec(challenge)?.[1];
  return asked?.replace(/\/(\.default)?$/, '') === audience
    ? undefined
    : new Fault('rejected', 'the vault asks for a token that is not for vaults of the configured cloud');
}

function errorFault(operation: string, { status, headers, bodyAsText }: PipelineResponse): Fault {
  const error = ErrorBody.safeParse(parseJson(bodyAsText)).data?.error;
  const found = status === 401 ? 'Unauthorized' : (error?.innererror?.code ?? error?.code);
  const known = explained.get(found ?? '');
  if (known && found) return codedFault(known[0], `${operation}: ${known[1]} (${found})`, found);
  const wait = retryAfterSeconds(headers.get('retry-after'));
  const fault = providerFault(operation, { status, code: found, retryAfterSeconds: wait }, kinds);
  return fault ?? malformedResponse(operation, status);
}

export function parseJson(body: string | null | undefined): unknown {
  try {
    return JSON.parse(body ?? '');
  } catch {
    return undefined;
  }
}
