import { type Diagnosis, diagnosisOf, namedValues } from '../../diagnosis/diagnosis.ts';
import type { DiagnosisRequest } from '../../diagnosis/diagnosis-endpoint.ts';
import { ownerChecks, targetChecks } from '../../diagnosis/stored-checks.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { type Check, check, reasonUnless, unreached } from '../../roles/check.ts';
import { type Claims, claimAt } from '../claims/claim-at.ts';
import type { JwtContext, JwtTarget, ReadyJwtTarget } from '../jwt-context.ts';
import type { JwtLoginRequest } from '../login/login-request.ts';
import { identityChecks, useChecks } from './identity-checks.ts';
import { diagnoseToken } from './token-checks.ts';

const signature = unreached('one of the keys of the mount signed the JWT', 'alg, kid');
const admission = unreached('the role admits the JWT', 'jwt');

/**
 * Makes every check of a login, also after one has failed, and issues and uses up nothing. With a role for sign-in with a
 * browser, the JWT is an ID token, whose state and nonce are not looked at (docs/conventions/jwt.md#diagnosis).
 */
export async function diagnoseJwt(
  context: JwtContext,
  target: JwtTarget,
  { role: name = '', jwt, remote_address }: DiagnosisRequest<JwtLoginRequest>,
): Promise<Diagnosis> {
  const { config, role, roleName } = target;
  const checks = [...roleChecks(target, name)];
  if (role !== null && remote_address !== undefined) checks.push(...addressChecks(role, remote_address));
  if (config === null || role === null || roleName === null)
    return diagnosisOf([...checks, signature, admission], () => ({}));
  const ready = { ...target, config, role, roleName };
  checks.push(...clientChecks(ready));
  const now = new Date(context.db.now());
  const { header, claims, ...token } = await diagnoseToken(context, ready, jwt, now);
  checks.push(...token.checks);
  if (claims === undefined) return diagnosisOf([...checks, admission], () => ({}));
  const { checks: ofIdentity, identity } = identityChecks(ready, claims, now);
  checks.push(...ofIdentity, ...(await useChecks(context, ready, claims)));
  if (identity !== undefined)
    checks.push(
      ...(await ownerChecks(context, identity, { principal: role.user_claim, groups: role.groups_claim })),
    );
  return diagnosisOf(checks, (claim) => valuesOf(header, claims, claim));
}

function roleChecks(target: JwtTarget, name: string): Check[] {
  const checks = targetChecks(target);
  if (name !== '' || target.config === null || target.config.default_role !== '') return checks;
  const reason = 'role is required: the auth mount has no default_role';
  return [...checks.slice(0, -1), check('the role exists', 'role', reason)];
}

/** Checks what sign-in with a browser needs besides a role. */
const clientChecks = ({ config, role }: ReadyJwtTarget): Check[] =>
  role.role_type === 'jwt'
    ? []
    : [
        check(
          'the auth mount has an oidc_client_id',
          'config',
          reasonUnless(
            config.oidc_client_id !== '',
            'this auth mount has no oidc_client_id, which sign-in with a browser needs',
          ),
        ),
      ];

/** The values of a claim by its name or its path, or those of several that a check names. */
function valuesOf(header: object, claims: Claims, claim: string): Record<string, unknown> {
  const value = claimAt(claims, claim);
  if (value !== undefined) return { [claim]: value };
  return { ...namedValues(claims, claim), ...namedValues(header, claim) };
}
