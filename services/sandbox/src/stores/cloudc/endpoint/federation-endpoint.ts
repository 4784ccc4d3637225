import express, { type RequestHandler } from 'express';
import { z } from 'zod';
import { FederatedTokenError, verifyFederatedToken } from '../../../federation/verify-federated-token.ts';
import { type HttpResponse, jsonResponse } from '../../../simulation/http-response.ts';
import { serveCall } from '../../../simulation/serve-call.ts';
import { invalidArgument } from '../google-error.ts';
import { googleErrors } from './google-protocol.ts';
import type { CloudCContext } from './secrets-endpoint.ts';
import { oauthError, oauthErrors } from './token-endpoint.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const PROVIDER =
  /^\/\/iam\.googleapis\.com\/(projects\/[\w-]+\/locations\/global\/workloadIdentityPools\/[a-z0-9-]+\/providers\/[a-z0-9-]+)$/;
const LIFETIME = /^(\d{1,5})s$/;

const Exchange = z.object({
  grantType: z.literal(GRANT),
  audience: z.string(),
  requestedTokenType: z.literal(ACCESS_TOKEN),
  subjectTokenType: z.enum([
    'urn:ietf:params:oauth:token-type:jwt',
    'urn:ietf:params:oauth:token-type:id_token',
  ]),
  subjectToken: z.string(),
});

/**
 * Serves the token exchange for workload identities
 * (https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token) and the tokens of a service account that
 * such an identity impersonates
 * (https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken).
 */
export function federationRoutes(context: CloudCContext): RequestHandler {
  const router = express.Router();
  router.post(
    '/v1/token',
    express.urlencoded({ extended: false, limit: '64kb' }),
    async (request, response) => {
      const input = (request.body ?? {}) as Record<string, unknown>;
      const call = { operation: 'exchange-token', sent: Object.keys(input).slice(0, 32) };
      await serveCall({ ...context.calls, errors: oauthErrors }, call, response, () =>
        exchange(context, input),
      );
    },
  );
  router.post(
    /^\/v1\/projects\/-\/serviceAccounts\/(?<email>[^/]+):generateAccessToken$/,
    express.json({ limit: '64kb' }),
    async (request, response) => {
      const email = String((request.params as Record<string, string>).email);
      const body = (request.body ?? {}) as Record<string, unknown>;
      const call = { operation: 'generateAccessToken', name: email, sent: Object.keys(body).slice(0, 32) };
      await serveCall({ ...context.calls, errors: googleErrors }, call, response, () =>
        impersonate(context, { authorization: request.headers.authorization, email, body }),
      );
    },
  );
  return router;
}

async function exchange(
  { tokens, federation, calls }: CloudCContext,
  input: Record<string, unknown>,
): Promise<HttpResponse> {
  const fields = Object.entries(input).map(([name, value]) => [camelCased(name), value]);
  const parsed = Exchange.safeParse(Object.fromEntries(fields));
  if (!parsed.success) return oauthError(400, 'invalid_request', 'Invalid request.');
  const { audience, subjectToken } = parsed.data;
  const provider = PROVIDER.exec(audience)?.[1];
  if (provider === undefined) return oauthError(400, 'invalid_request', 'Invalid value for "audience".');
  const registered = federation
    .of('cloudC-sm')
    .filter((credential) => (credential.provider ?? provider) === provider);
  if (registered.length === 0)
    return oauthError(400, 'invalid_target', 'The target service indicated by the "audience" is invalid.');
  try {
    const match = await verifyFederatedToken(subjectToken, registered, calls.now());
    const pool = provider.replace(/\/providers\/.*/, '');
    const email = `principal://iam.googleapis.com/${pool}/subject/${match.subject}`;
    const issued = tokens.issue({ email, impersonates: match.service_account_email }, calls.now());
    return jsonResponse(200, {
      access_token: issued.token,
      issued_token_type: ACCESS_TOKEN,
      token_type: 'Bearer',
      expires_in: issued.expiresIn,
    });
  } catch (error) {
    if (!(error instanceof FederatedTokenError)) throw error;
    return oauthError(400, 'invalid_grant', `The credential was refused: ${error.reason}.`);
  }
}

/** The client of the API sends the names with underscores, its JSON form has them in camel case. */
const camelCased = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

async function impersonate(
  { tokens, calls }: CloudCContext,
  {
    authorization,
    email,
    body,
  }: { authorization: string | undefined; email: string; body: Record<string, unknown> },
): Promise<HttpResponse> {
  tokens.requireImpersonation(authorization, email, calls.now());
  if (!Array.isArray(body.scope)) throw invalidArgument('scope', 'At least one scope must be specified.');
  const seconds = Number(LIFETIME.exec(String(body.lifetime ?? '3600s'))?.[1] ?? 3600);
  const { token } = tokens.issue({ email }, calls.now(), seconds);
  const expireTime = new Date(calls.now() + seconds * 1000).toISOString();
  return jsonResponse(200, { accessToken: token, expireTime });
}
