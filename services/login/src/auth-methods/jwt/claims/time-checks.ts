import { type Check, check, reasonUnless } from '../../roles/check.ts';
import type { JwtRole } from '../roles/role-fields.ts';
import type { Claims } from './claim-at.ts';

type Leeways = Pick<JwtRole, 'expiration_leeway' | 'not_before_leeway' | 'clock_skew_leeway' | 'max_age'>;

const usualSeconds = 60;

/** The leeways of a role in seconds: 0 is the default, and -1 none. */
export function leewaysOf(role: Omit<Leeways, 'max_age'>) {
  const or = (given: number, usual: number) => (given === 0 ? usual : Math.max(0, given));
  const skew = or(role.clock_skew_leeway, usualSeconds);
  return { skew, expiration: or(role.expiration_leeway, skew), notBefore: or(role.not_before_leeway, skew) };
}

/** Checks the times of a token, each with its leeway. The types of the claims have been checked. */
export function timeChecks(role: Leeways, claims: Claims, now: Date): Check[] {
  const seconds = now.getTime() / 1_000;
  const { exp, nbf, iat, auth_time } = claims as Partial<Record<string, number>>;
  const { skew, expiration, notBefore } = leewaysOf(role);
  const checks = [
    check(
      'the token has not expired',
      'exp',
      reasonUnless(exp! + expiration > seconds, 'the token has expired'),
    ),
    check(
      'the token is valid already',
      'nbf',
      reasonUnless(nbf === undefined || nbf - notBefore <= seconds, 'the token is not valid yet'),
    ),
    check(
      'the token was not issued in the future',
      'iat',
      reasonUnless(iat === undefined || iat - skew <= seconds, "the token's iat lies in the future"),
    ),
  ];
  if (role.max_age === 0) return checks;
  const since: unknown = auth_time ?? iat;
  const isRecent =
    typeof since === 'number' && seconds - since <= role.max_age + skew && since - skew <= seconds;
  const reason = reasonUnless(
    isRecent,
    "the token is older than the role's max_age, or does not say how old it is",
  );
  return [...checks, check('the token is not older than max_age', 'auth_time, iat', reason)];
}
