import { type Check, check, reasonUnless } from '../../roles/check.ts';
import { matchesGlob } from '../../roles/glob.ts';
import { isScalar, type Scalar } from '../roles/bound-claims.ts';
import type { JwtRole } from '../roles/role-fields.ts';

type Bounds = Pick<JwtRole, 'bound_subject' | 'bound_claims' | 'bound_claims_type'>;

/** The rest of a claim with thousands of values would prove nothing more. */
const maxProven = 50;

/**
 * The values of a claim that are among those that a role binds; a single value is a list of it. Values are compared with their
 * types: `1` is neither `"1"` nor `true`. Objects and lists in lists match nothing.
 */
export function provenValues(role: Bounds, name: string, claim: unknown): Scalar[] {
  const bound = role.bound_claims[name] ?? [];
  const isBound = (value: Scalar) => bound.some((one) => matches(role.bound_claims_type, one, value));
  return [claim].flat().filter(isScalar).filter(isBound).slice(0, maxProven);
}

const matches = (type: Bounds['bound_claims_type'], bound: Scalar, value: Scalar): boolean =>
  type === 'glob'
    ? typeof bound === 'string' && typeof value === 'string' && matchesGlob(bound, value)
    : bound === value;

/**
 * Checks what a token proves, or a login proved, against the bounds of a role.
 * @param claimOf returns a claim; undefined if it is not proven
 */
export function boundChecks(role: Bounds, claimOf: (name: string) => unknown): Check[] {
  const claims = Object.keys(role.bound_claims).map((name) => {
    const claim = claimOf(name);
    const isProven = provenValues(role, name, claim).length > 0;
    const reason =
      claim === undefined || claim === null
        ? `the token's ${name} is missing, and the role has it in bound_claims`
        : `the token's ${name} is not among the role's bound_claims`;
    return check(`${name} is one of bound_claims`, name, reasonUnless(isProven, reason));
  });
  return role.bound_subject === '' ? claims : [subjectCheck(role, claimOf('sub')), ...claims];
}

const subjectCheck = ({ bound_subject }: Bounds, sub: unknown): Check =>
  check(
    'the subject is bound_subject',
    'sub',
    reasonUnless(sub === bound_subject, "the token's sub is not the role's bound_subject"),
  );
