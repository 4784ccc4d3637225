import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { attempt, attemptAsync } from '../../diagnosis/attempt.ts';
import { type Check, check, unreached } from '../../roles/check.ts';
import type { ConfigSettings } from '../config/config-settings.ts';
import { type DirectoryClaims, parseClaims, readClaims } from '../directory/claims.ts';
import {
  claimRules,
  requireClaims,
  unverifiedPayload,
  verifySignature,
} from '../directory/verify-directory-token.ts';

const signature = 'the directory signed the JWT';

/** The checks of a token, and its claims as far as they can be read, whether the checks passed or not. */
export interface TokenDiagnosis {
  checks: Check[];
  payload?: JWTPayload;
  claims?: DirectoryClaims;
}

/** Checks a token as a login does, but continues after a check that failed. */
export async function diagnoseToken(
  token: string,
  keys: JWTVerifyGetKey,
  config: ConfigSettings,
  now: Date,
): Promise<TokenDiagnosis> {
  const form = attempt(() => unverifiedPayload(token));
  const checks = [check('the JWT is well-formed', 'jwt', form.reason)];
  const payload = form.value;
  if (payload === undefined) return { checks: [...checks, unreached(signature, 'alg, kid')] };
  checks.push(await signatureCheck(token, keys));
  for (const rule of claimRules(config, now)) {
    const { reason } = attempt(() => requireClaims(payload, rule, config));
    checks.push(check(rule.check, rule.claims.join(', '), reason));
  }
  const { value: claims, reason } = attempt(() => parseClaims(payload));
  checks.push(check('the claims that a login reads have the expected form', readClaims.join(', '), reason));
  return claims === undefined ? { checks, payload } : { checks, payload, claims };
}

async function signatureCheck(token: string, keys: JWTVerifyGetKey): Promise<Check> {
  const { reason } = await attemptAsync(verifySignature(token, keys));
  return check(signature, 'alg, kid', reason);
}
