import type { Request } from 'express';
import type { TokenRefusal } from '../../federation/verify-federated-token.ts';
import { type HttpResponse, jsonResponse } from '../../simulation/http-response.ts';
import type { Application } from './application.ts';
import type { ApplicationPasswords } from './application-passwords.ts';

const LIFETIME_SECONDS = 3_599;

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
  passwords: ApplicationPasswords;
  /** Returns why an assertion of a client is refused; undefined if it is accepted. */
  accepts(assertion: string): Promise<TokenRefusal | undefined>;
  issue(
    audience: string,
    options: { expiresInSeconds: number; authenticatedBy: 'secret' | 'assertion' },
  ): Promise<string>;
}

/**
 * The token endpoint of a tenant for the client-credentials grant
 * (https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow).
 * @param version of the endpoint: 1 names a `resource`, 2 a `scope`
 */
export async function clientCredentialsToken(
  { body }: Request,
  version: 1 | 2,
  context: ClientCredentialsContext,
): Promise<HttpResponse> {
  const sent = new Map(
    Object.entries((body ?? {}) as Record<string, unknown>).map(([key, value]) => [key, String(value)]),
  );
  const problem = refusal(sent, version, context.application) ?? (await refusalOfClient(sent, context));
  if (problem) return problem;
  const audience = version === 1 ? sent.get('resource') : sent.get('scope')?.replace(/\/\.default$/, '');
  const authenticatedBy = sent.has('client_assertion') ? 'assertion' : 'secret';
  const token = await context.issue(audience ?? '', { expiresInSeconds: LIFETIME_SECONDS, authenticatedBy });
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

/** A client authenticates with a password, or with an assertion that a federated credential accepts. */
async function refusalOfClient(
  sent: ReadonlyMap<string, string>,
  { application, passwords, accepts }: ClientCredentialsContext,
): Promise<HttpResponse | undefined> {
  const assertion = sent.get('client_assertion');
  if (assertion === undefined) return refusalOfPassword(sent.get('client_secret'), application, passwords);
  if (sent.get('client_assertion_type') !== ASSERTION_TYPE)
    return oauthError(400, 'invalid_request', 900144, "'client_assertion_type' is not supported.");
  const reason = await accepts(assertion);
  if (reason === undefined) return undefined;
  const [code, sentence] = assertionErrors[reason];
  return oauthError(reason === 'malformed' ? 400 : 401, 'invalid_client', code, sentence);
}

function refusalOfPassword(
  secret: string | undefined,
  { clientId }: Application,
  passwords: ApplicationPasswords,
): HttpResponse | undefined {
  if (secret === undefined || secret === '')
    return oauthError(
      401,
      'invalid_client',
      7000218,
      "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
    );
  const state = passwords.check(secret);
  if (state === 'accepted') return undefined;
  if (state === 'expired')
    return oauthError(
      401,
      'invalid_client',
      7000222,
      `The provided client secret keys for app '${clientId}' are expired.`,
    );
  return oauthError(
    401,
    'invalid_client',
    7000215,
    `Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the client secret ID, for a secret added to app '${clientId}'.`,
  );
}

const oauthError = (status: number, error: string, code: number, sentence: string): HttpResponse =>
  jsonResponse(status, { error, error_description: `AADSTS${code}: ${sentence}`, error_codes: [code] });
