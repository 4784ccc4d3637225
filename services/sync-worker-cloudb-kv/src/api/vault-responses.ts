import type { HttpClient, PipelineRequest, PipelineResponse } from '@azure/core-rest-pipeline';
import { Fault, parsedJson } from '@secrets/domain';
import {
  malformedResponse,
  networkFault,
  refusedFault,
  retryAfterSeconds,
  type ScopeMemory,
} from '@secrets/sync-worker';
import { z } from 'zod';
import { noteNextLink } from './next-link.ts';
import { refusals } from './refusals.ts';

/** The permission that a call needs, by which messages name the call. */
const permissions: Readonly<Record<string, string>> = {
  'GET secrets': 'List',
  'GET secrets/': 'Get',
  'PUT secrets/': 'Set',
  'PATCH secrets/': 'Set',
  'DELETE secrets/': 'Delete',
  'GET deletedsecrets/': 'Get',
  'POST deletedsecrets/': 'Recover',
  'DELETE deletedsecrets/': 'Purge',
};

const code = z.string().regex(/^[A-Za-z]{3,64}$/);
const ErrorBody = z.object({
  error: z.object({
    code: code.optional(),
    innererror: z.object({ code: code.optional() }).optional(),
    message: z.string().catch(''),
  }),
});
/** The last page has no link, or null. */
const Page = z.object({ value: z.array(z.object({})), nextLink: z.string().nullish() });
const Success = z.union([z.object({ id: z.string() }), Page]);

/**
 * Throws the failures of a vault as faults, so that the SDK does not have to parse them. What passes is a success, or a
 * challenge that the SDK answers with a token.
 * @param audience the only one that a challenge may ask a token for; any, if undefined
 */
export const withFaults = (
  httpClient: HttpClient,
  audience: string | undefined,
  scope: ScopeMemory,
): HttpClient => ({
  async sendRequest(request) {
    const response = await httpClient.sendRequest(request).catch((error: Error) => {
      throw networkFault(operationOf(request), error) ?? error;
    });
    const fault = faultOfResponse(request, response, audience);
    if (fault) throw fault;
    noteNextLink(() => Page.safeParse(parsedJson(response.bodyAsText)).data?.nextLink || undefined);
    if (response.status === 401) await requireTenant(request, response, scope);
    return response;
  },
});

/** Names the call by the permission that it needs. */
function operationOf({ method, url }: Pick<PipelineRequest, 'method' | 'url'>): string {
  const [, collection = '', name, part] = new URL(url).pathname.split('/');
  if (method === 'GET' && part === 'versions') return 'List';
  return permissions[`${method} ${collection}${name === undefined ? '' : '/'}`] ?? method;
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
  // https://learn.microsoft.com/rest/api/keyvault/secrets/purge-deleted-secret/purge-deleted-secret
  const isPurged = status === 204 && operation === 'Purge';
  const isExpected =
    isPurged || (status === 200 && Success.safeParse(parsedJson(response.bodyAsText)).success);
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

/**
 * A vault shows neither an ID nor whether it was deleted and created again, but the tenant that it belongs to
 * (https://learn.microsoft.com/azure/key-vault/general/authentication-requests-and-responses#authentication).
 */
async function requireTenant(
  { url }: PipelineRequest,
  { headers }: PipelineResponse,
  scope: ScopeMemory,
): Promise<void> {
  const challenge = headers.get('www-authenticate') ?? '';
  const tenant = /\bauthorization(?:_uri)?="?https?:\/\/[^/",\s]+\/([\w.-]{1,64})["/,\s]/i.exec(
    `${challenge} `,
  )?.[1];
  if (tenant === undefined) return;
  await scope.require(tenant.toLowerCase(), {
    label: `the tenant of the vault ${new URL(url).hostname}`,
    kind: 'tenant',
  });
}

function errorFault(operation: string, { status, headers, bodyAsText }: PipelineResponse): Fault {
  const error = ErrorBody.safeParse(parsedJson(bodyAsText)).data?.error;
  const found = status === 401 ? 'Unauthorized' : (error?.innererror?.code ?? error?.code);
  const response = {
    status,
    code: found,
    text: error?.message,
    retryAfterSeconds: retryAfterSeconds(headers.get('retry-after')),
  };
  return refusedFault(operation, response, refusals) ?? malformedResponse(operation, status);
}
