import { batchTokenKeyRing, openBatchToken } from '@secrets/access';
import { invalid, Problem } from '@secrets/domain';
import { type Endpoint, endpoint, seconds } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { revokeOrphan, revokeToken } from '../queries/revocations.ts';
import { createToken } from '../tokens/create/create-token.ts';
import { TokenRequest } from '../tokens/create/token-request.ts';
import {
  findBatchToken,
  ownToken,
  requireTokenByAccessor,
  requireTokenByValue,
} from '../tokens/find-token.ts';
import { presentAuth, presentBatchCaller, presentBatchToken, presentToken } from '../tokens/present-token.ts';
import { renewToken } from '../tokens/renew-token.ts';

const TokenBody = z.object({ token: z.string().min(1) });
const AccessorBody = z.object({ accessor: z.string().min(1) });
const RenewalBody = z.object({ increment: seconds.optional() });

/** `auth/token/…` (docs/conventions.md#21-tokens). */
export const tokenEndpoints = (context: Context): Endpoint[] => [
  createTokenAt(context, 'create', false),
  createTokenAt(context, 'create-orphan', true),
  lookUpOwnToken(context),
  lookUpByToken(context),
  lookUpByAccessor(context),
  renewOwnToken(context),
  renewByToken(context),
  revokeOwnToken(context),
  revokeByToken(context, 'revoke', revokeToken),
  revokeByToken(context, 'revoke-orphan', revokeOrphan),
  revokeByAccessor(context),
];

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
      if (token.leaseSeconds > 0 && requestedSeconds > token.leaseSeconds + 1)
        warn('the requested lifetime exceeds a maximum or outlives the parent token, and was shortened');
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
      return { data: token === undefined ? presentBatchCaller(caller) : presentToken(token, new Date()) };
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
    handle: async ({ body, caller }) => {
      const token = await ownToken(context, caller);
      if (token === undefined) throw invalid('a batch token cannot be renewed');
      return { auth: presentAuth(await renewToken(context, token, body.increment)) };
    },
  });

const renewByToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/renew',
    summary: 'Renew a token',
    body: TokenBody.extend(RenewalBody.shape),
    handle: async ({ body, caller }) => {
      refuseBatch(context, body.token, 'renewed');
      const token = await requireTokenByValue(context, caller, body.token);
      return { auth: presentAuth(await renewToken(context, token, body.increment)) };
    },
  });

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
      const token = await requireTokenByValue(context, caller, body.token).catch(absentIsRevoked);
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
      await revokeToken(context.db, (await requireTokenByAccessor(context, caller, body.accessor)).accessor);
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
