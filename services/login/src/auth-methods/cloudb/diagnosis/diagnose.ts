import type { JWTPayload } from 'jose';
import { findOwnerReasons } from '../../../tokens/owner-reasons.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { type Check, check, reasonUnless } from '../../roles/check.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { allChecks } from '../decision/decide.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import { attemptOf, identityOf } from '../login/attempt.ts';
import type { LoginTarget, ReadyTarget } from '../queries/login-target.ts';
import type { DiagnosisRequest } from './diagnosis-request.ts';
import { diagnoseToken } from './token-checks.ts';

/** A check, with what the token says in the claims that it looked at. */
type DiagnosedCheck = Pick<Check, 'check' | 'passed' | 'claim' | 'reason'> & {
  values: Record<string, unknown>;
};

export interface Diagnosis {
  /** Whether a login with the same request would succeed. */
  admitted: boolean;
  checks: DiagnosedCheck[];
}

/**
 * Makes every check of a login, also after one has failed, and issues nothing. What does not respond is a check that failed
 * (docs/conventions/cloudb.md#diagnosis).
 */
export async function diagnose(
  context: CloudBContext,
  target: LoginTarget,
  request: DiagnosisRequest,
): Promise<Diagnosis> {
  const { mountId, config, role } = target;
  const checks = [
    check(
      'the auth mount is configured',
      'config',
      reasonUnless(config !== null, 'this auth mount is not configured'),
    ),
    check('the role exists', 'role', reasonUnless(role !== null, 'role: does not exist')),
  ];
  if (role !== null && request.remote_address !== undefined)
    checks.push(...addressChecks(role, request.remote_address));
  if (config === null) return presented(checks, {});
  const keys = context.directory.keysOf(mountId, config);
  const token = await diagnoseToken(request.jwt, keys, config, new Date(context.db.now()));
  checks.push(...token.checks);
  const { payload = {}, claims } = token;
  if (role !== null && claims !== undefined)
    checks.push(...(await decisionChecks(context, { ...target, config, role }, claims, request)));
  if (claims !== undefined) checks.push(...(await ownerChecks(context, target, claims)));
  return presented(checks, payload);
}

const decisionChecks = (
  context: CloudBContext,
  target: ReadyTarget,
  claims: DirectoryClaims,
  request: DiagnosisRequest,
): Promise<Check[]> =>
  allChecks(attemptOf(target, claims, request, new Date(context.db.now())), () =>
    context.providers.of(target),
  );

/** Checks the stored entity and groups of the identity, which a login checks last. */
async function ownerChecks(
  context: CloudBContext,
  { mountId }: LoginTarget,
  claims: DirectoryClaims,
): Promise<Check[]> {
  const { entity, groups, policies } = await findOwnerReasons(context, identityOf(mountId, claims));
  return [
    check('the entity of the principal is not disabled', 'oid', entity),
    check('the groups of the principal are known', 'groups, hasgroups, _claim_names', groups),
    check('the policies of the principal and its groups can be evaluated', 'oid, groups', policies),
  ];
}

const presented = (checks: readonly Check[], payload: JWTPayload): Diagnosis => ({
  admitted: checks.every(({ passed }) => passed),
  checks: checks.map(({ isInvalid, ...shown }) => ({ ...shown, values: valuesOf(payload, shown.claim) })),
});

function valuesOf(payload: JWTPayload, claim: string): Record<string, unknown> {
  const names = claim.split(', ').filter((name) => Object.hasOwn(payload, name));
  return Object.fromEntries(names.map((name) => [name, payload[name]]));
}
