import type { PipelineResponse } from '@azure/core-rest-pipeline';
import { Problem, parsedJson } from '@secrets/domain';
import { z } from 'zod';
import { retryAfterMs } from '../../../verification/http/retry-after.ts';

const issuerHint = 'see the federated credential of the app registration and identity/oidc/config';

/**
 * Why the directory refuses a request for a token, by its code. Sources:
 * https://learn.microsoft.com/entra/identity-platform/reference-error-codes#aadsts-error-codes
 * https://learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations#errors
 */
export const refusalReasons: ReadonlyMap<number, string> = new Map([
  [90002, 'the directory does not know the configured tenant_id'],
  [900023, 'the directory does not know the configured tenant_id'],
  [700016, 'the directory does not know the configured client_id in this tenant'],
  [7000112, 'the application of the configured client_id is disabled'],
  [500011, 'the directory does not know the API that tokens are requested for in this tenant'],
  [53003, 'a policy for conditional access blocks the application of the configured client_id'],
  [7000215, 'the directory refuses the configured client_secret: it is wrong'],
  [7000222, 'the directory refuses the configured client_secret: it has expired'],
  [70021, `the directory finds no federated credential for the identity token: ${issuerHint}`],
  [700211, `the directory does not trust the issuer of the identity token: ${issuerHint}`],
  [700212, `the directory does not trust the audience of the identity token: ${issuerHint}`],
  [700213, `the directory does not trust the subject of the identity token: ${issuerHint}`],
  [700024, 'the directory refuses the identity token: its lifetime or the clock of this service is wrong'],
  [50166, 'the directory cannot fetch the documents of the identity token issuer'],
  [700027, 'the directory does not find the key of the identity token in the documents of the issuer'],
]);

/** The codes for a secret that is wrong or has expired. */
const secretCodes: ReadonlySet<number> = new Set([7000215, 7000222]);

/** The credentials are incomplete, or refused, until the configuration is changed here or in the directory. */
export class CredentialsRefused extends Problem {
  constructor(sentence: string) {
    super('bad_gateway', sentence);
  }
}

/** The directory refuses a secret, and nothing but the secret. */
export class SecretRefused extends CredentialsRefused {}

const ErrorBody = z.object({ error_codes: z.array(z.int()).min(1) });

/** Who issues access tokens: its name in messages, and what to do if it refuses. */
export interface TokenIssuer {
  name: string;
  refusal: string;
}
export const directoryIssuer: TokenIssuer = {
  name: 'the directory',
  refusal: 'the directory refuses the configured credentials',
};
export const metadataIssuer: TokenIssuer = {
  name: 'the instance metadata',
  refusal: 'the instance on which this service runs has no such managed identity',
};

/** Why a request for an access token failed; undefined if it did not. Its text contains nothing of the response but a number. */
export function tokenProblem(
  issuer: TokenIssuer,
  response: PipelineResponse,
  now: number,
): Problem | undefined {
  const { status, bodyAsText } = response;
  const body = parsedJson(bodyAsText);
  if (status < 400)
    // also an empty 204, and a redirect, which is not followed
    return status !== 200 || body === undefined
      ? new Problem('bad_gateway', `${issuer.name} returned a response that is not an access token`)
      : undefined;
  if (status === 429 || status >= 500 || status === 408 || status === 410) {
    const waitMs = retryAfterMs(response, now) ?? 2_000;
    return unavailable(`${issuer.name} returned status ${status}`, waitMs);
  }
  const [code] = ErrorBody.safeParse(body).data?.error_codes ?? [];
  const reason = (code === undefined ? undefined : refusalReasons.get(code)) ?? issuer.refusal;
  const sentence = `${reason} (${code === undefined ? `status ${status}` : `AADSTS${code}`})`;
  return code !== undefined && secretCodes.has(code)
    ? new SecretRefused(sentence)
    : new CredentialsRefused(sentence);
}

/** The issuer did not respond. */
export const tokenOutage = (issuer: TokenIssuer, cause: unknown): Problem =>
  new Problem('unavailable', `${issuer.name} does not respond`, { cause, retryAfterSeconds: 2 });

export const unavailable = (sentence: string, waitMs: number): Problem =>
  new Problem('unavailable', sentence, { retryAfterSeconds: Math.ceil(waitMs / 1_000) });
