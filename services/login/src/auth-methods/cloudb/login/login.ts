import { invalid, Problem } from '@secrets/domain';
import { type IssuedToken, issueToken } from '../../../tokens/issue-token.ts';
import { withDefaultPolicy } from '../../../tokens/token-fields.ts';
import { planLifetime } from '../../../tokens/token-lifetime.ts';
import { type LoginEndpoint, NoSuchMount } from '../../auth-method.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import type { Check } from '../decision/check.ts';
import type { ProvenPlace } from '../decision/place-bounds.ts';
import { addressChecks, boundClaims } from '../decision/principal-checks.ts';
import { type DirectoryClaims, parseClaims } from '../directory/claims.ts';
import { verifyDirectoryToken } from '../directory/verify-directory-token.ts';
import type { ReadyTarget } from '../queries/login-target.ts';
import { lifetimeRequest } from '../roles/lifetime-request.ts';
import { isBatch } from '../roles/role-settings.ts';
import { identityOf } from './attempt.ts';
import { decideLogin } from './decide-login.ts';
import type { LoginRequest } from './login-request.ts';
import { loginSource } from './may-renew.ts';

/** A login whose mount, configuration and role were found. */
interface Login {
  at: LoginEndpoint;
  target: ReadyTarget;
  request: LoginRequest;
}

/** Logs a workload in with the directory's token: verify, read the claims, decide, issue. */
export async function logIn(
  context: CloudBContext,
  at: LoginEndpoint,
  request: LoginRequest,
): Promise<IssuedToken> {
  const login = await findLogin(context, at, request);
  const { target } = login;
  const { mountId, config, role, limits } = target;
  requireBoundAddress(login);
  const keys = context.directory.keysOf(mountId, config);
  const jwt = await verifyDirectoryToken(request.jwt, keys, config, new Date(context.db.now()));
  const claims = parseClaims(jwt.payload);
  const place = await requireAdmitted(context, login, claims, jwt.protectedHeader.kid);
  return issueToken(context, {
    ...tokenOf(login, claims, place),
    lifetime: planLifetime(lifetimeRequest(role), new Date(context.db.now()), { limits }),
    owner: {
      ...identityOf(mountId, claims),
      source: loginSource(request.role, target, provenClaims(login, claims), place),
    },
  });
}

async function findLogin(context: CloudBContext, at: LoginEndpoint, request: LoginRequest): Promise<Login> {
  const target = await context.targets(at, request.role);
  if (target === undefined) throw new NoSuchMount();
  const { config, role } = target;
  if (config === null) throw invalid('this auth mount is not configured');
  if (role === null) throw invalid('role: does not exist');
  return { at, target: { ...target, config, role }, request };
}

function requireBoundAddress({ target, at }: Login): void {
  const failed = addressChecks(target.role, at.remoteAddress).find(({ passed }) => !passed);
  if (failed !== undefined) throw refusalProblem(failed);
}

/** Throws the reason of the first check that fails. Returns where the principal runs, if the role binds that. */
async function requireAdmitted(
  context: CloudBContext,
  { at, target, request }: Login,
  claims: DirectoryClaims,
  kid: string | undefined,
): Promise<ProvenPlace | undefined> {
  const proven = { kid, oid: claims.oid, tokenId: claims.tokenId };
  const decision = await decideLogin(context, target, request, claims);
  if (decision.refusal === undefined) {
    context.log.debug(proven, 'directory token verified');
    return decision.place;
  }
  const problem = refusalProblem(decision.refusal);
  context.log.info({ ...proven, mount: at.mount, refusal: problem.message }, 'login refused');
  throw problem;
}

const refusalProblem = ({ reason, isInvalid = false }: Check): Problem =>
  new Problem(isInvalid ? 'invalid' : 'forbidden', reason);

const tokenOf = (
  { at, target: { role }, request }: Login,
  claims: DirectoryClaims,
  place: ProvenPlace | undefined,
) => ({
  type: isBatch(role) ? ('batch' as const) : ('service' as const),
  parentAccessor: null,
  namespaceId: at.namespaceId,
  displayName: `${at.mount}-${claims.oid}`,
  creationPath: `auth/${at.mount}/login`,
  policies: withDefaultPolicy(role.token_policies, role.token_no_default_policy),
  metadata: { role: request.role.toLowerCase(), ...placeMetadata(place) },
  boundCidrs: role.token_bound_cidrs,
  renewable: !isBatch(role),
  uses: role.token_num_uses || null,
});

/** The claims that a renewal is checked against, without what proves nothing. */
const provenClaims = ({ target }: Login, claims: DirectoryClaims): DirectoryClaims => ({
  ...claims,
  ...boundClaims(target.role, claims),
});

/** A proven place in a token's metadata, under the names of the login request. */
function placeMetadata(place: ProvenPlace | undefined): Record<string, string> {
  if (place === undefined) return {};
  const { subscriptionId, resourceGroup, machine, scaleSet, resourceId } = place;
  return {
    subscription_id: subscriptionId,
    resource_group_name: resourceGroup,
    ...(machine === undefined ? {} : { vm_name: machine }),
    ...(scaleSet === undefined ? {} : { vmss_name: scaleSet }),
    ...(resourceId === undefined ? {} : { resource_id: resourceId }),
  };
}
