import { batchTokenKeyRing, openBatchToken } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import { invalid, Problem } from '@secrets/domain';
import {
  cutToPage,
  type Endpoint,
  endpoint,
  pageQuery,
  type Reply,
  requireAny,
  seconds,
} from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { revokeOrphan, revokeToken } from '../queries/revocations.ts';
import { listAccessors, type StoredToken } from '../queries/stored-tokens.ts';
import { createToken } from '../tokens/create/create-token.ts';
import { TokenRequest } from '../tokens/create/token-request.ts';
import {
  findBatchToken,
  ownToken,
  requireTokenByAccessor,
  requireTokenByValue,
  requireTokenToRevoke,
} from '../tokens/find-token.ts';
import { presentAuth, presentBatchCaller, presentBatchToken, presentToken } from '../tokens/present-token.ts';
import { renewToken } from '../tokens/renew-token.ts';

const TokenBody = z.object({ token: z.string().min(1) });
const AccessorBody = z.object({ accessor: z.string().min(1) });
const RenewalBody = z.object({ increment: seconds.optional() });
const Page = pageQuery({ max: 1_000 });

/** `auth/token/…` (docs/conventions.md#21-tokens). */
export const tokenEndpoints = (context: Context): Endpoint[] => [
  listTokens(context),
  createTokenAt(context, 'create', false),
  createTokenAt(context, 'create-orphan', true),
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
    path: `/auth/token/${name}`,
    summary: orphan ? 'Create a token without a parent' : "Create a child of the caller's token",
    needs: 'create or update',
    body: TokenRequest,
    handle: async ({ body, caller, warn }) => {
      const options = {
        request: body,
        orphan: orphan || (body.no_parent ?? false),
        creationPath: `auth/token/${name}`,
      };
      const token = await createToken(context, caller, options);
      const requestedSeconds = body.period ?? body.ttl ?? 0;
      if (token.leaseSeconds > 0 && requestedSeconds > token.leaseSeconds + 1) warn(shortened);
      return { auth: presentAuth(token) };
    },
  });

const lookUpOwnToken = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/auth/token/lookup-self',
    summary: "Look up the caller's token",
    handle: async ({ caller }) => {
      const token = await ownToken(context, caller);
      return {
        data: token === undefined ? presentBatchCaller(caller, new Date()) : presentToken(token, new Date()),
      };
    },
  });

const lookUpByToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/lookup',
    summary: 'Look up a token',
    body: TokenBody,
    handle: async ({ body, caller }) => {
      const batch = await findBatchToken(context, caller, body.token);
      if (batch !== undefined) return { data: presentBatchToken(batch, new Date()) };
      return { data: presentToken(await requireTokenByValue(context, caller, body.token), new Date()) };
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
    handle: async ({ body, caller, warn }) => {
      const token = await ownToken(context, caller);
      if (token === undefined) throw invalid('a batch token cannot be renewed');
      return renewed(context, token, { body, caller, warn });
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
      return renewed(context, token, { body, caller, warn });
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
  warn: (sentence: string) => void;
}

async function renewed(
  context: Context,
  token: StoredToken,
  { body: { increment }, caller: { remoteAddress }, warn }: Renewal,
): Promise<Reply> {
  const issued = await renewToken(context, token, { incrementSeconds: increment, remoteAddress });
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
      await revokeToken(context.db, (await requireTokenToRevoke(context, caller, body)).accessor);
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
