import { timingSafeEqual } from 'node:crypto';
import type { Request } from 'express';
import type { TokenRefusal } from '../federation/verify-federated-token.ts';
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

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Why an assertion is refused (https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations). */
const assertionErrors: Readonly<Record<TokenRefusal, readonly [code: number, sentence: string]>> = {
  malformed: [50027, 'JWT token is invalid or malformed.'],
  issuer: [700211, 'No matching federated identity record found for presented assertion issuer.'],
  subject: [700213, 'No matching federated identity record found for presented assertion subject.'],
  audience: [700212, 'No matching federated identity record found for presented assertion audience.'],
  unreachable: [50166, "The request to the issuer's endpoint failed."],
  signature: [700027, 'The certificate with identifier used to sign the client assertion is not registered.'],
  expired: [700024, 'Client assertion is not within its valid time range.'],
};

export interface ClientCredentialsContext {
  application: Application;
  /** Returns why an assertion of a client is refused; undefined if it is accepted. */
  accepts(assertion: string): Promise<TokenRefusal | undefined>;
  issue(
    audience: string,
    options: { expiresInSeconds: number; authenticatedBy: 'secret' | 'assertion' },
  ): Promise<string>;
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
  { application, accepts, issue }: ClientCredentialsContext,
): Promise<HttpResponse> {
  const sent = new Map(
    Object.entries((body ?? {}) as Record<string, unknown>).map(([key, value]) => [key, String(value)]),
  );
  const problem = refusal(sent, version, application) ?? (await refusalOfClient(sent, application, accepts));
  if (problem) return problem;
  const audience = version === 1 ? sent.get('resource') : sent.get('scope')?.replace(/\/\.default$/, '');
  const authenticatedBy = sent.has('client_assertion') ? 'assertion' : 'secret';
  const token = await issue(audience ?? '', { expiresInSeconds: LIFETIME_SECONDS, authenticatedBy });
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
  { clientId }: Application,
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
  if (version === 2 && !sent.get('scope')?.endsWith('/.default'))
    return oauthError(400, 'invalid_scope', 1002012, 'The provided value for scope is not valid.');
  return undefined;
}

/** A client authenticates with its secret, or with an assertion that a federated credential accepts. */
async function refusalOfClient(
  sent: ReadonlyMap<string, string>,
  { clientSecret }: Application,
  accepts: ClientCredentialsContext['accepts'],
): Promise<HttpResponse | undefined> {
  const assertion = sent.get('client_assertion');
  if (assertion === undefined) {
    if (isEqual(sent.get('client_secret') ?? '', clientSecret)) return undefined;
    return oauthError(401, 'invalid_client', 7000215, 'Invalid client secret provided.');
  }
  if (sent.get('client_assertion_type') !== ASSERTION_TYPE)
    return oauthError(400, 'invalid_request', 900144, "'client_assertion_type' is not supported.");
  const reason = await accepts(assertion);
  if (reason === undefined) return undefined;
  const [code, sentence] = assertionErrors[reason];
  return oauthError(reason === 'malformed' ? 400 : 401, 'invalid_client', code, sentence);
}

const isEqual = (sent: string, expected: string): boolean =>
  sent.length === expected.length && timingSafeEqual(Buffer.from(sent), Buffer.from(expected));

const oauthError = (status: number, error: string, code: number, sentence: string): HttpResponse =>
  jsonResponse(status, { error, error_description: `AADSTS${code}: ${sentence}`, error_codes: [code] });
