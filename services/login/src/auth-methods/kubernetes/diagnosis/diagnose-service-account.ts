import { type Diagnosis, diagnosisOf, namedValues } from '../../diagnosis/diagnosis.ts';
import type { DiagnosisRequest } from '../../diagnosis/diagnosis-endpoint.ts';
import { ownerChecks, targetChecks } from '../../diagnosis/stored-checks.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { type Check, unreached } from '../../roles/check.ts';
import { boundChecks } from '../account/bound-checks.ts';
import type { Claims, ServiceAccount } from '../account/service-account.ts';
import type { KubernetesContext, KubernetesTarget, ReadyKubernetesTarget } from '../kubernetes-context.ts';
import { aliasOf } from '../login/login.ts';
import type { KubernetesLoginRequest } from '../login/login-request.ts';
import { diagnoseToken } from './token-checks.ts';

const confirmation = unreached('the cluster or one of its keys confirms the JWT', 'jwt');
const admission = unreached('the role admits the service account', 'kubernetes.io');

/**
 * Makes every check of a login, also after one has failed, and issues nothing. The cluster is asked as for a login
 * (docs/conventions/kubernetes.md#diagnosis).
 */
export async function diagnoseServiceAccount(
  context: KubernetesContext,
  target: KubernetesTarget,
  { jwt, remote_address }: DiagnosisRequest<KubernetesLoginRequest>,
): Promise<Diagnosis> {
  const { config, role, roleName } = target;
  const checks = targetChecks(target);
  if (role !== null && remote_address !== undefined) checks.push(...addressChecks(role, remote_address));
  if (config === null || role === null || roleName === null)
    return diagnosisOf([...checks, confirmation, admission], () => ({}));
  const ready = { ...target, config, role, roleName };
  const { claims = {}, header, account, ...token } = await diagnoseToken(context, ready, jwt);
  checks.push(...token.checks);
  if (account === undefined) checks.push(admission);
  else checks.push(...boundChecks(role, account), ...(await entityChecks(context, ready, account, claims)));
  return diagnosisOf(checks, (claim) => valuesOf(header, claims, account, claim));
}

const entityChecks = (
  context: KubernetesContext,
  target: ReadyKubernetesTarget,
  account: ServiceAccount,
  { iat }: Claims,
): Promise<Check[]> =>
  ownerChecks(
    context,
    {
      mountId: target.mountId,
      alias: aliasOf(target, account),
      groups: [],
      issuedAt: typeof iat === 'number' ? iat : undefined,
    },
    { principal: 'kubernetes.io/serviceaccount/name' },
  );

/** The values of claims by the names in checks, in whichever form the token has them. */
function valuesOf(
  header: object,
  claims: Claims,
  account: ServiceAccount | undefined,
  claim: string,
): Record<string, unknown> {
  const ofAccount: Claims =
    account === undefined
      ? {}
      : {
          'kubernetes.io/serviceaccount/name': account.name,
          'kubernetes.io/namespace': account.namespace,
        };
  return namedValues({ ...header, ...claims, ...ofAccount }, claim);
}
