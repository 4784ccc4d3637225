import type { Request } from 'express';
import { type HttpResponse, jsonResponse } from '../simulation/http-response.ts';
import type { Identity } from './identity.ts';

const LIFETIME_SECONDS = 86_400;

/**
 * The token endpoint of the instance metadata service, which an instance finds at its link-local address.
 * Without `client_id`, `object_id` or `msi_res_id`, it returns a token of the first identity.
 */
export async function metadataToken(
  request: Request,
  identities: readonly Identity[],
  nowMs: number,
  issue: (identity: Identity, audience: string, expiresInSeconds: number) => Promise<string>,
): Promise<HttpResponse> {
  const query = stringParameters(request);
  const problem = validationError(request, query);
  if (problem) return invalidRequest(problem);
  const identity = identities.find((candidate) => isSelected(candidate, query));
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

function validationError(request: Request, query: Record<string, string>): string | undefined {
  if (request.header('metadata')?.toLowerCase() !== 'true') return 'Required metadata header not specified';
  if (request.header('x-forwarded-for') !== undefined)
    return 'Request with a X-Forwarded-For header is not allowed';
  if (!query['api-version']) return "Required query variable 'api-version' is missing";
  if (!query.resource) return "Required query variable 'resource' is missing";
  return undefined;
}

function isSelected(identity: Identity, query: Record<string, string>): boolean {
  const selectors = [
    [query.client_id, identity.appid],
    [query.object_id, identity.oid],
    [query.msi_res_id, identity.identityId ?? ''],
  ];
  return selectors.every(
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
