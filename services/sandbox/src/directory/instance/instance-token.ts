import type { Request } from 'express';
import { type HttpResponse, jsonResponse } from '../../simulation/http-response.ts';
import type { Identity } from '../identity.ts';
import type { Instance } from './instance.ts';

const LIFETIME_SECONDS = 86_400;

interface InstanceTokenContext {
  identities: readonly Identity[];
  instance: Instance | undefined;
  nowMs: number;
  issue: (identity: Identity, audience: string, expiresInSeconds: number) => Promise<string>;
}

/**
 * The token endpoint of the instance metadata service, which an instance finds at its link-local address. Without
 * `client_id`, `object_id` or `msi_res_id`, it returns a token of the instance's system-assigned identity, or of its
 * only other one. Beyond what the real service does, these parameters also select an identity of another resource.
 */
export async function instanceToken(
  request: Request,
  { identities, instance, nowMs, issue }: InstanceTokenContext,
): Promise<HttpResponse> {
  const query = stringParameters(request);
  const problem = validationError(request, query);
  if (problem) return invalidRequest(problem);
  const own = identities.filter(({ resourceId }) => isSame(resourceId, instance?.identityHolder));
  const identity = selectors.some((name) => query[name] !== undefined)
    ? [...own, ...identities].find((candidate) => isSelected(candidate, query))
    : defaultAmong(own);
  if (identity === 'ambiguous')
    return invalidRequest(
      'Multiple user assigned identities exist, please specify the clientId / resourceId of the identity in the token request',
    );
  if (!identity) return invalidRequest('Identity not found');
  const resource = query.resource ?? '';
  const nowSeconds = Math.floor(nowMs / 1000);
  return jsonResponse(200, {
    access_token: await issue(identity, resource, LIFETIME_SECONDS),
    client_id: identity.appid,
    expires_in: String(LIFETIME_SECONDS),
    expires_on: String(nowSeconds + LIFETIME_SECONDS),
    ext_expires_in: String(LIFETIME_SECONDS),
    not_before: String(nowSeconds - 300),
    resource,
    token_type: 'Bearer',
  });
}

const selectors = ['client_id', 'object_id', 'msi_res_id'];

function defaultAmong(own: readonly Identity[]): Identity | 'ambiguous' | undefined {
  const [first, second] = own;
  if (first?.kind === 'system-assigned' || second === undefined) return first;
  return 'ambiguous';
}

const isSame = (one: string, other: string | undefined): boolean =>
  one.toLowerCase() === other?.toLowerCase();

function validationError(request: Request, query: Record<string, string>): string | undefined {
  if (request.header('metadata')?.toLowerCase() !== 'true') return 'Required metadata header not specified';
  if (request.header('x-forwarded-for') !== undefined)
    return 'Request with a X-Forwarded-For header is not allowed';
  if (!query['api-version']) return "Required query variable 'api-version' is missing";
  if (!query.resource) return "Required query variable 'resource' is missing";
  return undefined;
}

function isSelected(identity: Identity, query: Record<string, string>): boolean {
  const conditions = [
    [query.client_id, identity.appid],
    [query.object_id, identity.oid],
    [query.msi_res_id, identity.identityId ?? ''],
  ];
  return conditions.every(
    ([sent, actual]) => sent === undefined || sent.toLowerCase() === actual?.toLowerCase(),
  );
}

function invalidRequest(description: string): HttpResponse {
  return jsonResponse(400, { error: 'invalid_request', error_description: description });
}

function stringParameters(request: Request): Record<string, string> {
  const strings = Object.entries(request.query).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  return Object.fromEntries(strings);
}
