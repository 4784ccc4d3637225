import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import { type HttpResponse, jsonResponse } from '../simulation/http-response.ts';
import { guidFrom } from './identity.ts';

const LIFETIME_SECONDS = 3_599;

/** An application of the tenant, with its secret. */
export interface Application {
  clientId: string;
  clientSecret: string;
  /** Object ID of its service principal. */
  oid: string;
}

/** The default application, which may use every simulated service that accepts the directory's tokens. */
export const defaultApplication = (seed: string): Application => ({
  clientId: guidFrom(`application ${seed}`),
  clientSecret: `sandbox~${guidFrom(`client secret ${seed}`)}`,
  oid: guidFrom(`oid application ${seed}`),
});

/**
 * The token endpoint of a tenant for the client-credentials grant
 * (https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow).
 * @param version of the endpoint: 1 names a `resource`, 2 a `scope`
 */
export async function clientCredentialsToken(
  { body }: Request,
  version: 1 | 2,
  application: Application,
  issue: (audience: string, expiresInSeconds: number) => Promise<string>,
): Promise<HttpResponse> {
  const sent = new Map(
    Object.entries((body ?? {}) as Record<string, unknown>).map(([key, value]) => [key, String(value)]),
  );
  const problem = refusal(sent, version, application);
  if (problem) return problem;
  const audience = version === 1 ? sent.get('resource') : sent.get('scope')?.replace(/\/\.default$/, '');
  const token = await issue(audience ?? '', LIFETIME_SECONDS);
  return jsonResponse(200, {
    token_type: 'Bearer',
    expires_in: LIFETIME_SECONDS,
    ext_expires_in: LIFETIME_SECONDS,
    access_token: token,
  });
}

/** The error codes are those of https://learn.microsoft.com/entra/identity-platform/reference-error-codes. */
function refusal(
  sent: ReadonlyMap<string, string>,
  version: 1 | 2,
  { clientId, clientSecret }: Application,
): HttpResponse | undefined {
  const missing = ['grant_type', 'client_id', version === 1 ? 'resource' : 'scope'].find(
    (name) => !sent.get(name),
  );
  if (missing !== undefined)
    return oauthError(
      400,
      'invalid_request',
      900144,
      `The request body must contain the following parameter: '${missing}'.`,
    );
  if (sent.get('grant_type') !== 'client_credentials')
    return oauthError(400, 'unsupported_grant_type', 70003, 'The app requested an unsupported grant type.');
  if (sent.get('client_id')?.toLowerCase() !== clientId)
    return oauthError(400, 'unauthorized_client', 700016, 'Application was not found in the directory.');
  if (!isEqual(sent.get('client_secret') ?? '', clientSecret))
    return oauthError(401, 'invalid_client', 7000215, 'Invalid client secret provided.');
  if (version === 2 && !sent.get('scope')?.endsWith('/.default'))
    return oauthError(400, 'invalid_scope', 1002012, 'The provided value for scope is not valid.');
  return undefined;
}

const isEqual = (sent: string, expected: string): boolean =>
  sent.length === expected.length && timingSafeEqual(Buffer.from(sent), Buffer.from(expected));

const oauthError = (status: number, error: string, code: number, sentence: string): HttpResponse =>
  jsonResponse(status, { error, error_description: `AADSTS${code}: ${sentence}`, error_codes: [code] });
