import express, { type RequestHandler } from 'express';
import {
  type ErrorResponses,
  type HttpResponse,
  jsonResponse,
  retryAfter,
} from '../../../simulation/http-response.ts';
import { serveCall } from '../../../simulation/serve-call.ts';
import type { CloudCContext } from './secrets-endpoint.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Serves the token endpoint: exchanges a JWT that the service account has signed for an access token (RFC 7523). */
export function tokenRoutes(context: CloudCContext): RequestHandler {
  const router = express.Router();
  router.post('/token', express.urlencoded({ extended: false, limit: '64kb' }), async (request, response) => {
    const input = (request.body ?? {}) as Record<string, unknown>;
    const call = { operation: 'token', sent: Object.keys(input).slice(0, 32) };
    await serveCall({ ...context.calls, errors: oauthErrors }, call, response, () => grant(context, input));
  });
  return router;
}

async function grant(
  { tokens, calls }: CloudCContext,
  input: Record<string, unknown>,
): Promise<HttpResponse> {
  const { grant_type: type, assertion } = input;
  if (type !== GRANT) return oauthError(400, 'unsupported_grant_type', `Invalid grant_type: ${String(type)}`);
  try {
    const { token, expiresIn } = await tokens.exchange(String(assertion), calls.now());
    return jsonResponse(200, { access_token: token, expires_in: expiresIn, token_type: 'Bearer' });
  } catch {
    return oauthError(400, 'invalid_grant', 'Invalid JWT Signature.');
  }
}

export const oauthErrors: ErrorResponses = {
  error: oauthError,
  throttled: (seconds) => oauthError(429, 'rate_limit_exceeded', 'Rate exceeded', retryAfter(seconds)),
  serverError: () => oauthError(500, 'internal_failure', 'Internal error'),
  invalidSignature: () => oauthError(400, 'invalid_grant', 'Invalid JWT Signature.'),
};

export function oauthError(status: number, error: string, description: string, headers = {}): HttpResponse {
  return jsonResponse(status, { error, error_description: description }, headers);
}
