import type { Caller } from '@secrets/caller';
import { invalid, Problem } from '@secrets/domain';
import { type Endpoint, endpoint, type Reply, seconds } from '@secrets/http';
import { type Sealed, seal } from '@secrets/seal';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { missingPolicies } from '../../queries/policies.ts';
import type { StoredToken } from '../../queries/tokens/stored-tokens.ts';
import { createToken } from '../../tokens/create/create-token.ts';
import { TokenRequest } from '../../tokens/create/token-request.ts';
import { ownToken, requireTokenByAccessor, requireTokenByValue } from '../../tokens/find-token.ts';
import { presentAuth } from '../../tokens/present-token.ts';
import { renewToken } from '../../tokens/renew-token.ts';
import type { TokenRole } from '../../tokens/roles/role-settings.ts';
import { requireTokenRole } from '../../tokens/roles/save-token-role.ts';
import { tokenRoleName } from '../token-roles.ts';
import { AccessorBody, refuseBatch, TokenBody } from './token-body.ts';

const RenewalBody = z.object({ increment: seconds.optional() });

const createPath = '/auth/token/';

export const creationEndpoints = (context: Context): Endpoint[] => [
  createTokenAt(context, 'create', false),
  createTokenAt(context, 'create-orphan', true),
  createTokenWithRole(context),
];

export const renewalEndpoints = (context: Context): Endpoint[] => [
  renewOwnToken(context),
  renewByToken(context),
  renewByAccessor(context),
];

const shortened = 'the requested lifetime exceeds a maximum or outlives the parent token, and was shortened';

const keptLifetime = 'the token keeps its longer lifetime, which only who has the token can shorten';

const createTokenAt = (context: Context, name: string, orphan: boolean) =>
  endpoint({
    method: 'post',
    path: `${createPath}${name}`,
    summary: orphan ? 'Create a token without a parent' : "Create a child of the caller's token",
    needs: 'create or update',
    body: TokenRequest,
    handle: ({ body, caller, warn }) => created(context, { body, caller, orphan, name, warn }),
  });

const createTokenWithRole = (context: Context) =>
  endpoint({
    method: 'post',
    path: `${createPath}create/:role`,
    summary: 'Create a token with a token role',
    needs: 'create or update',
    params: z.object({ role: tokenRoleName }),
    body: TokenRequest,
    handle: async ({ params, body, caller, warn }) => {
      const role = await requireTokenRole(context, caller, params.role).catch(absentIsInvalid);
      return created(context, { body, caller, orphan: false, name: `create/${role.name}`, role, warn });
    },
  });

interface Creation {
  body: TokenRequest;
  caller: Caller;
  orphan: boolean;
  /** Path below `auth/token`, such as `create/app`. */
  name: string;
  role?: TokenRole;
  warn: (sentence: string) => void;
}

async function created(context: Context, { body, caller, role, warn, ...at }: Creation): Promise<Reply> {
  const orphan = at.orphan || (body.no_parent ?? false);
  const token = await createToken(context, caller, {
    request: body,
    orphan,
    creationPath: `auth/token/${at.name}`,
    role,
  });
  const requestedSeconds = body.period || body.ttl || 0;
  if (token.leaseSeconds > 0 && requestedSeconds > token.leaseSeconds + 1) warn(shortened);
  for (const policy of await missingPolicies(context.db, caller.namespace.id, token.policies))
    warn(`policy ${policy} does not exist, and grants nothing until it does`);
  return { auth: presentAuth(token) };
}

const renewOwnToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/renew-self',
    summary: "Renew the caller's token",
    access: { isOwn: true, receivesToken: true },
    body: RenewalBody.extend({ token: z.string().optional() }), // that of the request; clients may repeat it
    handle: async ({ body, caller, callerToken: sent, warn }) => {
      const token = await ownToken(context, caller, sent);
      if (token === undefined) throw invalid('a batch token cannot be renewed');
      return renewed(context, token, { body, caller, sent, warn });
    },
  });

const renewByToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/renew',
    summary: 'Renew a token',
    body: TokenBody.extend(RenewalBody.shape),
    handle: async ({ body, caller, warn }) => {
      refuseBatch(context, body.token, 'renewed');
      const token = await requireTokenByValue(context, caller, body.token);
      return renewed(context, token, { body, caller, sent: seal(body.token), warn });
    },
  });

const renewByAccessor = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/renew-accessor',
    summary: 'Renew the token of an accessor',
    body: AccessorBody.extend(RenewalBody.shape),
    handle: async ({ body, caller, warn }) => {
      const token = await requireTokenByAccessor(context, caller, body.accessor);
      return renewed(context, token, { body, caller, warn });
    },
  });

interface Renewal {
  body: z.infer<typeof RenewalBody>;
  caller: Caller;
  sent?: Sealed<string> | undefined;
  warn: (sentence: string) => void;
}

async function renewed(
  context: Context,
  token: StoredToken,
  { body: { increment }, caller: { remoteAddress, accessor }, sent, warn }: Renewal,
): Promise<Reply> {
  // Who has the token itself may revoke it, so shortening it gives no further right; an accessor alone does not.
  const isOwn = sent !== undefined || token.accessor === accessor;
  const issued = await renewToken(context, token, {
    sent,
    incrementSeconds: increment,
    remoteAddress,
    isOwn,
  });
  const requestedSeconds = token.periodSeconds || increment || 0;
  if (issued.leaseSeconds > 0 && requestedSeconds > issued.leaseSeconds) warn(shortened);
  if (!isOwn && increment !== undefined && issued.leaseSeconds > increment + 1 && token.periodSeconds === 0)
    warn(keptLifetime);
  return { auth: presentAuth(issued) };
}

/** The path of a role that does not exist cannot be used; that is not a missing object. */
function absentIsInvalid(error: unknown): never {
  if (error instanceof Problem && error.kind === 'not_found') throw invalid('the token role does not exist');
  throw error;
}
