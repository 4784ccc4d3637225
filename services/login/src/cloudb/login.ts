import { addressRanges, newAccessor, newToken, tokenHash } from '@secrets/access';
import { invalid, notFound, Problem } from '@secrets/domain';
import { decodeProtectedHeader } from 'jose';
import type { Context } from '../context.ts';
import type { LoginTarget } from '../queries/cloudb.ts';
import { entityOfAlias, insertLoginToken } from '../queries/login-tokens.ts';
import type { NewToken } from '../queries/tokens.ts';
import { withDefault } from '../tokens/child-policies.ts';
import { batchToken, issued } from '../tokens/create-token.ts';
import type { IssuedToken } from '../tokens/present-auth.ts';
import { planLifetime } from '../tokens/token-lifetime.ts';
import { type DirectoryClaims, parseClaims } from './claims.ts';
import type { ConfigSettings } from './config-settings.ts';
import { type LoginRequest, namedMachine } from './login-request.ts';
import { loginSource } from './login-source.ts';
import type { ProvenMachine } from './provider-lookup.ts';
import { isBatch, needsProvider, type RoleSettings } from './role-settings.ts';
import { verifyDirectoryToken } from './verify-directory-token.ts';
import { whyRefused, whyTooOld } from './why-refused.ts';

/** The endpoint that a login is sent to, and the caller's address. */
export interface LoginEndpoint {
  namespaceId: string;
  mount: string;
  remoteAddress: string;
}

interface Login {
  mountId: string;
  config: ConfigSettings;
  role: RoleSettings;
  request: LoginRequest;
}

/**
 * Logs a workload in with the directory's token: verify, read the claims, decide, issue
 * (docs/conventions.md#3-login-method-cloudb).
 * Every refusal is a problem that names the constraint and none of its values.
 */
export async function login(
  context: Context,
  at: LoginEndpoint,
  request: LoginRequest,
): Promise<IssuedToken> {
  const attempt = {
    ...configured(await context.targets(at.namespaceId, at.mount, request.role)),
    request,
  };
  refuseAddress(attempt.role, at.remoteAddress);
  const claims = await verifiedClaims(context, attempt);
  const refusal = whyRefused(attempt.role, claims) ?? whyTooOld(attempt.role, claims.issuedAt, new Date());
  const of = { kid: keyIdOf(request.jwt), oid: claims.oid, tokenId: claims.tokenId };
  if (refusal !== undefined) {
    context.log.info({ ...of, mount: at.mount, refusal }, 'a login was refused');
    throw new Problem('forbidden', refusal);
  }
  context.log.debug(of, 'a directory token was verified');
  const machine = await provenMachine(context, attempt, claims);
  return issue(context, at, attempt, claims, machine);
}

function configured(target: LoginTarget | undefined): Omit<Login, 'request'> {
  if (target === undefined) throw notFound();
  const { mountId, config, role } = target;
  if (config === null) throw invalid('this auth mount is not configured');
  if (role === null) throw invalid('role: is not known');
  return { mountId, config, role };
}

function refuseAddress(role: RoleSettings, address: string): void {
  if (role.token_bound_cidrs.length > 0 && !addressRanges(role.token_bound_cidrs).includes(address))
    throw new Problem('forbidden', "the caller's address is not in the role's token_bound_cidrs");
}

async function verifiedClaims(context: Context, { config, request }: Login): Promise<DirectoryClaims> {
  return parseClaims(await verifyDirectoryToken(request.jwt, context.directory.keysOf(config), config));
}

/** What the provider confirms, for roles that bind more than principals (docs/conventions.md#32-roles). */
async function provenMachine(
  context: Context,
  login: Login,
  claims: DirectoryClaims,
): Promise<ProvenMachine> {
  if (!needsProvider(login.role)) return {};
  const machine = namedMachine(login.request);
  if (context.provider === undefined)
    throw new Problem(
      'unavailable',
      'this role binds subscription, resource group, location or scale set, which this version cannot look up',
    );
  return context.provider.prove({ ...login, machine, claims });
}

async function issue(
  context: Context,
  at: LoginEndpoint,
  { mountId, role, request }: Login,
  claims: DirectoryClaims,
  machine: ProvenMachine,
): Promise<IssuedToken> {
  const lifetime = planLifetime(
    {
      ttlSeconds: role.token_ttl,
      maxTtlSeconds: role.token_max_ttl,
      explicitMaxTtlSeconds: role.token_explicit_max_ttl,
      periodSeconds: role.token_period,
    },
    new Date(),
  );
  const unnamed: Omit<NewToken, 'hash' | 'accessor'> = {
    parentAccessor: null,
    namespaceId: at.namespaceId,
    displayName: `${at.mount}-${claims.oid}`,
    creationPath: `auth/${at.mount}/login`,
    policies: withDefault(role.token_policies, role.token_no_default_policy),
    metadata: { role: request.role.toLowerCase(), ...machine },
    entityId: null,
    boundCidrs: role.token_bound_cidrs,
    renewable: !isBatch(role),
    lifetime,
    uses: role.token_num_uses || null,
  };
  if (isBatch(role)) {
    const entityId = await entityOfAlias(context.db, mountId, claims.oid, at.namespaceId);
    const token = { ...unnamed, entityId };
    return issued({ ...token, accessor: null }, batchToken(context, token, mountId), 'batch');
  }
  const token = newToken();
  const named = { ...unnamed, hash: tokenHash(token.reveal()), accessor: newAccessor() };
  const owner = { mountId, alias: claims.oid, source: loginSource(request.role, claims) };
  const entityId = await insertLoginToken(context.db, named, owner);
  return issued({ ...named, entityId }, token, 'service');
}

/** The key id that a verified token names. */
const keyIdOf = (jwt: string): string | undefined => decodeProtectedHeader(jwt).kid;
