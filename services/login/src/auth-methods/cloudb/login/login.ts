import { addressRanges } from '@secrets/access';
import { invalid, Problem } from '@secrets/domain';
import { decodeProtectedHeader } from 'jose';
import type { LeaseLimits } from '../../../queries/auth-mounts.ts';
import { type IssuedToken, issueToken } from '../../../tokens/issue-token.ts';
import { withDefaultPolicy } from '../../../tokens/token-fields.ts';
import { planLifetime } from '../../../tokens/token-lifetime.ts';
import { type LoginEndpoint, NoSuchMount } from '../../auth-method.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import type { ConfigSettings } from '../config/config-settings.ts';
import { type DirectoryClaims, parseClaims } from '../directory/claims.ts';
import { verifyDirectoryToken } from '../directory/verify-directory-token.ts';
import { ageDenialReason, denialReason } from '../roles/denial-reason.ts';
import { isBatch, needsProvider, type RoleSettings } from '../roles/role-settings.ts';
import { type LoginRequest, requireMachine } from './login-request.ts';
import { loginSource } from './may-renew.ts';

/** A login whose mount, configuration and role were found. */
interface Login {
  at: LoginEndpoint;
  mountId: string;
  limits: LeaseLimits;
  config: ConfigSettings;
  role: RoleSettings;
  request: LoginRequest;
}

/** Logs a workload in with the directory's token: verify, read the claims, decide, issue. */
export async function logIn(
  context: CloudBContext,
  at: LoginEndpoint,
  request: LoginRequest,
): Promise<IssuedToken> {
  const login = await findLogin(context, at, request);
  requireBoundAddress(login);
  const jwt = await verifyDirectoryToken(request.jwt, context.directory.keysOf(login.config), login.config);
  const claims = parseClaims(jwt);
  requirePrincipal(context, login, claims);
  refuseProviderLookup(login);
  return issueToken(context, {
    ...tokenOf(login, claims),
    owner: {
      mountId: login.mountId,
      alias: claims.oid,
      groups: claims.groups,
      source: loginSource(request.role, claims),
    },
  });
}

async function findLogin(context: CloudBContext, at: LoginEndpoint, request: LoginRequest): Promise<Login> {
  const target = await context.targets(at.namespaceId, at.mount, request.role);
  if (target === undefined) throw new NoSuchMount();
  const { mountId, limits, config, role } = target;
  if (config === null) throw invalid('this auth mount is not configured');
  if (role === null) throw invalid('role: does not exist');
  return { at, mountId, limits, config, role, request };
}

function requireBoundAddress({ role, at }: Login): void {
  const { token_bound_cidrs: cidrs } = role;
  if (cidrs.length > 0 && !addressRanges(cidrs).includes(at.remoteAddress))
    throw new Problem('forbidden', "the caller's address is not in the role's token_bound_cidrs");
}

function requirePrincipal(
  context: CloudBContext,
  { at, role, request }: Login,
  claims: DirectoryClaims,
): void {
  const { kid } = decodeProtectedHeader(request.jwt);
  const proven = { kid, oid: claims.oid, tokenId: claims.tokenId };
  const refusal = denialReason(role, claims) ?? ageDenialReason(role, claims.issuedAt, new Date());
  if (refusal !== undefined) {
    context.log.info({ ...proven, mount: at.mount, refusal }, 'login refused');
    throw new Problem('forbidden', refusal);
  }
  context.log.debug(proven, 'directory token verified');
}

/** Roles that bind more than principals need the provider's API (docs/conventions.md#32-roles), which is not supported. */
function refuseProviderLookup({ role, request }: Login): void {
  if (!needsProvider(role)) return;
  requireMachine(request);
  throw new Problem(
    'unavailable',
    'this role binds subscription, resource group, location or scale set, which this version cannot look up',
  );
}

const tokenOf = ({ at, limits, role, request }: Login, claims: DirectoryClaims) => ({
  type: isBatch(role) ? ('batch' as const) : ('service' as const),
  parentAccessor: null,
  namespaceId: at.namespaceId,
  displayName: `${at.mount}-${claims.oid}`,
  creationPath: `auth/${at.mount}/login`,
  policies: withDefaultPolicy(role.token_policies, role.token_no_default_policy),
  metadata: { role: request.role.toLowerCase() },
  boundCidrs: role.token_bound_cidrs,
  renewable: !isBatch(role),
  lifetime: lifetimeOf(role, limits),
  uses: role.token_num_uses || null,
});

const lifetimeOf = (role: RoleSettings, limits: LeaseLimits) =>
  planLifetime(
    {
      ttlSeconds: role.token_ttl,
      maxTtlSeconds: role.token_max_ttl,
      explicitMaxTtlSeconds: role.token_explicit_max_ttl,
      periodSeconds: role.token_period,
    },
    new Date(),
    { limits },
  );
