import { attempt, attemptAsync } from '../../diagnosis/attempt.ts';
import { type Check, check, unreached } from '../../roles/check.ts';
import {
  decodeUnverified,
  requireRule,
  unverifiedHeader,
  verifyTokenSignature,
} from '../../verification/verify-token.ts';
import type { Claims } from '../claims/claim-at.ts';
import { acceptedBy, jwtRules, requireLoginType } from '../claims/verify-jwt.ts';
import type { JwtContext, ReadyJwtTarget } from '../jwt-context.ts';

/** The checks of a token whatever it proves, with its header and claims if they can be read. */
export interface TokenDiagnosis {
  checks: Check[];
  header: object;
  claims?: Claims;
}

const signature = 'one of the keys of the mount signed the JWT';

/** Checks a token as a login does, but continues after a check that failed. */
export async function diagnoseToken(
  { jwtKeys }: JwtContext,
  { mountId, config, role }: ReadyJwtTarget,
  token: string,
  now: Date,
): Promise<TokenDiagnosis> {
  const accepted = acceptedBy(config);
  const { value: claims, reason } = attempt(() => decodeUnverified(token, accepted));
  const form = check('the JWT is well-formed', 'jwt', reason);
  if (claims === undefined) return { checks: [form, unreached(signature, 'alg, kid')], header: {} };
  const header = unverifiedHeader(token);
  const signed = await attemptAsync(verifyTokenSignature(token, jwtKeys.of(mountId, config), accepted));
  const type = attempt(() => requireLoginType(header));
  const checks = [
    form,
    check(signature, 'alg, kid', signed.reason),
    ...jwtRules(config, role, now).map((rule) =>
      check(rule.check, rule.claims.join(', '), attempt(() => requireRule(claims, rule)).reason),
    ),
    check('the JWT is one for logins', 'typ', type.reason),
  ];
  return { checks, header, claims };
}
