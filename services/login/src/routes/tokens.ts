import { batchTokenKeyRing, openBatchToken } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { invalid, notFound, Problem } from '@secrets/domain';
import {
  cutToPage,
  type Endpoint,
  endpoint,
  pageQuery,
  type Reply,
  requireAny,
  seconds,
} from '@secrets/http';
import { type Sealed, seal } from '@secrets/seal';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { missingPolicies } from '../queries/policies.ts';
import { revokeOrphan, revokeToken } from '../queries/revocations.ts';
import { listAccessors, type StoredToken } from '../queries/stored-tokens.ts';
import { deleteWrappedResponse } from '../queries/wrapped-responses.ts';
import { createToken } from '../tokens/create/create-token.ts';
import { TokenRequest } from '../tokens/create/token-request.ts';
import {
  findBatchToken,
  ownToken,
  requireTokenByAccessor,
  requireTokenByValue,
  requireTokenToRevoke,
} from '../tokens/find-token.ts';
import { presentAuth, presentBatchToken, presentToken } from '../tokens/present-token.ts';
import { renewToken } from '../tokens/renew-token.ts';
import { requireTokenRole, type TokenRole } from '../tokens/roles/save-token-role.ts';
import { tokenRoleName } from './token-roles.ts';

const TokenBody = z.object({ token: z.string().min(1) });
const AccessorBody = z.object({ accessor: z.string().min(1) });
const RenewalBody = z.object({ increment: seconds.optional() });
const Page = pageQuery({ max: 1_000 });

const createPath = '/auth/token/';

/** `auth/token/…` (docs/conventions.md#21-tokens). */
export const tokenEndpoints = (context: Context): Endpoint[] => [
  listTokens(context),
  createTokenAt(context, 'create', false),
  createTokenAt(context, 'create-orphan', true),
  createTokenWithRole(context),
  lookUpOwnToken(context),
  lookUpByToken(context),
  lookUpByAccessor(context),
  renewOwnToken(context),
  renewByToken(context),
  renewByAccessor(context),
  revokeOwnToken(context),
  revokeByToken(context, 'revoke', revokeToken),
  revokeByToken(context, 'revoke-orphan', revokeOrphan),
  revokeByAccessor(context),
];

const listTokens = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/auth/token/accessors',
    summary: 'List the accessors of the tokens of this namespace',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = '', limit } = query;
      const found = await listAccessors(context.db, caller.namespace.id, { after, limit: limit + 1 });
      return {
        data: { keys: cutToPage(requireAny(found), limit, (accessor) => ({ after: accessor }), warn) },
      };
    },
  });

const shortened = 'the requested lifetime exceeds a maximum or outlives the parent token, and was shortened';

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
  /** Of the path. */
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

const lookUpOwnToken = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/auth/token/lookup-self',
    summary: "Look up the caller's token",
    handle: async ({ caller, callerToken }) => {
      const token = await ownToken(context, caller, callerToken);
      const data =
        token === undefined
          ? await presentOwnBatchToken(context, caller, callerToken)
          : presentToken(token, new Date(), callerToken);
      return { data };
    },
  });

async function presentOwnBatchToken(context: Context, caller: Caller, sent: Sealed<string> | undefined) {
  const found =
    sent && (await findBatchToken(context, { ...caller, namespace: caller.tokenNamespace }, sent.reveal()));
  if (sent === undefined || found === undefined) throw notFound();
  return presentBatchToken(found, new Date(), sent);
}

const lookUpByToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/lookup',
    summary: 'Look up a token',
    body: TokenBody,
    handle: async ({ body, caller }) => {
      const sent = seal(body.token);
      const batch = await findBatchToken(context, caller, body.token);
      if (batch !== undefined) return { data: presentBatchToken(batch, new Date(), sent) };
      return { data: presentToken(await requireTokenByValue(context, caller, body.token), new Date(), sent) };
    },
  });

const lookUpByAccessor = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/lookup-accessor',
    summary: 'Look up the token of an accessor',
    body: AccessorBody,
    handle: async ({ body, caller }) => ({
      data: presentToken(await requireTokenByAccessor(context, caller, body.accessor), new Date()),
    }),
  });

const renewOwnToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/renew-self',
    summary: "Renew the caller's token",
    body: RenewalBody,
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
  { body: { increment }, caller: { remoteAddress }, sent, warn }: Renewal,
): Promise<Reply> {
  const issued = await renewToken(context, token, { sent, incrementSeconds: increment, remoteAddress });
  const requestedSeconds = token.periodSeconds || increment || 0;
  if (issued.leaseSeconds > 0 && requestedSeconds > issued.leaseSeconds) warn(shortened);
  return { auth: presentAuth(issued) };
}

const revokeOwnToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/revoke-self',
    summary: "Revoke the caller's token and its children",
    handle: async ({ caller }) => {
      if (caller.accessor === null) throw invalid('a batch token cannot be revoked');
      await revokeToken(context.db, caller.accessor);
      return undefined;
    },
  });

const revokeByToken = (context: Context, name: string, revoke: typeof revokeToken) =>
  endpoint({
    method: 'post',
    path: `/auth/token/${name}`,
    summary:
      name === 'revoke' ? 'Revoke a token and its children' : 'Revoke one token; its children become orphans',
    body: TokenBody,
    handle: async ({ body, caller }) => {
      refuseBatch(context, body.token, 'revoked');
      const token = await requireTokenToRevoke(context, caller, body).catch(absentIsRevoked);
      if (token !== undefined) await revoke(context.db, token.accessor);
      return undefined;
    },
  });

const revokeByAccessor = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/revoke-accessor',
    summary: 'Revoke the token of an accessor and its children',
    body: AccessorBody,
    handle: async ({ body, caller }) => {
      const token = await requireTokenToRevoke(context, caller, body).catch(absentIsRevoked);
      if (token !== undefined) await revokeToken(context.db, token.accessor);
      else if (!(await deleteWrappedResponse(context.db, caller.namespace.path, body.accessor)))
        throw notFound();
      return undefined;
    },
  });

function refuseBatch(context: Context, token: string, verb: string): void {
  if (openBatchToken(batchTokenKeyRing(context.keys), token) !== undefined)
    throw invalid(`token: a batch token cannot be ${verb}`);
}

/** Revoking a token that does not exist succeeds. */
function absentIsRevoked(error: unknown): undefined {
  if (error instanceof Problem && error.kind === 'not_found') return undefined;
  throw error;
}

/** The path of a role that does not exist cannot be used; that is not a missing object. */
function absentIsInvalid(error: unknown): never {
  if (error instanceof Problem && error.kind === 'not_found') throw invalid('the token role does not exist');
  throw error;
}
