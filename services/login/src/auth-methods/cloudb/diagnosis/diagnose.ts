import type { JWTPayload } from 'jose';
import { type Diagnosis, diagnosisOf, namedValues } from '../../diagnosis/diagnosis.ts';
import type { DiagnosisRequest } from '../../diagnosis/diagnosis-endpoint.ts';
import { ownerChecks, targetChecks } from '../../diagnosis/stored-checks.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { type Check, unreached } from '../../roles/check.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { allChecks } from '../decision/decide.ts';
import type { DirectoryClaims } from '../directory/claims.ts';
import { attemptOf, identityOf } from '../login/attempt.ts';
import type { LoginRequest } from '../login/login-request.ts';
import type { LoginTarget, ReadyTarget } from '../queries/login-target.ts';
import { diagnoseToken } from './token-checks.ts';

const ownerClaims = { principal: 'oid', groups: 'groups, hasgroups, _claim_names' };

/**
 * Makes every check of a login, also after one has failed, and issues nothing. What does not respond is a check that failed
 * (docs/conventions/cloudb.md#diagnosis).
 */
export async function diagnose(
  context: CloudBContext,
  target: LoginTarget,
  request: DiagnosisRequest<LoginRequest>,
): Promise<Diagnosis> {
  const { mountId, config, role } = target;
  const checks = targetChecks(target);
  if (role !== null && request.remote_address !== undefined)
    checks.push(...addressChecks(role, request.remote_address));
  if (config === null) return presented([...checks, ...notReached], {});
  const keys = context.directory.keysOf(mountId, config);
  const token = await diagnoseToken(request.jwt, keys, config, new Date(context.db.now()));
  checks.push(...token.checks);
  const { payload = {}, claims } = token;
  if (role !== null && claims !== undefined)
    checks.push(...(await decisionChecks(context, { ...target, config, role }, claims, request)));
  else checks.push(admission);
  if (claims !== undefined)
    checks.push(...(await ownerChecks(context, identityOf(mountId, claims), ownerClaims)));
  return presented(checks, payload);
}

const admission = unreached('the role admits the JWT', 'jwt');
const notReached = [unreached('the directory signed the JWT', 'alg, kid'), admission];

const decisionChecks = (
  context: CloudBContext,
  target: ReadyTarget,
  claims: DirectoryClaims,
  request: LoginRequest,
): Promise<Check[]> =>
  allChecks(attemptOf(target, claims, request, new Date(context.db.now())), () =>
    context.providers.of(target),
  );

const presented = (checks: readonly Check[], payload: JWTPayload): Diagnosis =>
  diagnosisOf(checks, (claim) => namedValues(payload, claim));
