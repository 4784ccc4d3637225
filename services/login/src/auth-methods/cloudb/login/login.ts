import { invalid } from '@secrets/domain';
import { type IssuedToken, issueToken } from '../../../tokens/issue-token.ts';
import { planLifetime } from '../../../tokens/token-lifetime.ts';
import { type LoginEndpoint, NoSuchMount } from '../../auth-method.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { refusalProblem, requirePassed } from '../../roles/check.ts';
import { lifetimeRequest, tokenOfRole } from '../../roles/role-tokens.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import type { ProvenPlace } from '../decision/place-bounds.ts';
import { boundClaims } from '../decision/principal-checks.ts';
import { type DirectoryClaims, parseClaims } from '../directory/claims.ts';
import { verifyDirectoryToken } from '../directory/verify-directory-token.ts';
import type { ReadyTarget } from '../queries/login-target.ts';
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
  requirePassed(addressChecks(role, at.remoteAddress));
  const keys = context.directory.keysOf(mountId, config);
  const jwt = await verifyDirectoryToken(request.jwt, keys, config, new Date(context.db.now()));
  const claims = parseClaims(jwt.payload);
  const place = await requireAdmitted(context, login, claims, jwt.protectedHeader.kid);
  return issueToken(context, {
    ...tokenOfRole(role, at, {
      principal: claims.oid,
      metadata: { role: request.role.toLowerCase(), ...placeMetadata(place) },
    }),
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
