import type { Caller } from '@secrets/caller';
import { invalid, notFound, Problem } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, pageQuery, requireNonEmpty } from '@secrets/http';
import { type Sealed, seal } from '@secrets/seal';
import type { Context } from '../../context.ts';
import { revokeOrphan, revokeToken } from '../../queries/tokens/revocations.ts';
import { listAccessors } from '../../queries/tokens/stored-tokens.ts';
import { deleteWrappedResponse } from '../../queries/wrapped-responses.ts';
import {
  findBatchToken,
  ownToken,
  requireTokenByAccessor,
  requireTokenByValue,
  requireTokenToRevoke,
} from '../../tokens/find-token.ts';
import { presentBatchToken, presentToken } from '../../tokens/present-token.ts';
import { creationEndpoints, renewalEndpoints } from './issue-tokens.ts';
import { AccessorBody, refuseBatch, TokenBody } from './token-body.ts';

const Page = pageQuery({ max: 1_000 });

/** `auth/token/…` (docs/conventions/access.md#tokens). */
export const tokenEndpoints = (context: Context): Endpoint[] => [
  listTokens(context),
  ...creationEndpoints(context),
  lookUpOwnToken(context),
  lookUpByToken(context),
  lookUpByAccessor(context),
  ...renewalEndpoints(context),
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
    access: { needsSudo: true },
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = '', limit } = query;
      const found = await listAccessors(context.db, caller.namespace.id, { after, limit: limit + 1 });
      return {
        data: { keys: cutToPage(requireNonEmpty(found), limit, (accessor) => ({ after: accessor }), warn) },
      };
    },
  });

const lookUpOwnToken = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/auth/token/lookup-self',
    summary: "Look up the caller's token",
    access: { isOwn: true, receivesToken: true },
    handle: async ({ caller, callerToken }) => {
      const token = await ownToken(context, caller, callerToken);
      const data =
        token === undefined
          ? await presentOwnBatchToken(context, caller, callerToken)
          : presentToken(token, new Date(context.db.now()), callerToken);
      return { data };
    },
  });

async function presentOwnBatchToken(context: Context, caller: Caller, sent: Sealed<string> | undefined) {
  const found =
    sent && (await findBatchToken(context, { ...caller, namespace: caller.tokenNamespace }, sent.reveal()));
  if (sent === undefined || found === undefined) throw notFound();
  return presentBatchToken(found, new Date(context.db.now()), sent);
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
      if (batch !== undefined) return { data: presentBatchToken(batch, new Date(context.db.now()), sent) };
      return {
        data: presentToken(
          await requireTokenByValue(context, caller, body.token),
          new Date(context.db.now()),
          sent,
        ),
      };
    },
  });

const lookUpByAccessor = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/lookup-accessor',
    summary: 'Look up the token of an accessor',
    body: AccessorBody,
    handle: async ({ body, caller }) => ({
      data: presentToken(
        await requireTokenByAccessor(context, caller, body.accessor),
        new Date(context.db.now()),
      ),
    }),
  });

const revokeOwnToken = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/auth/token/revoke-self',
    summary: "Revoke the caller's token and its children",
    access: { isOwn: true },
    handle: async ({ caller }) => {
      if (caller.accessor === null) throw invalid('a batch token cannot be revoked');
      await revokeToken(context.db, caller.accessor);
    },
  });

const revokeByToken = (context: Context, name: string, revoke: typeof revokeToken) =>
  endpoint({
    method: 'post',
    path: `/auth/token/${name}`,
    summary:
      name === 'revoke' ? 'Revoke a token and its children' : 'Revoke one token; its children become orphans',
    access: name === 'revoke' ? {} : { needsSudo: true },
    body: TokenBody,
    handle: async ({ body, caller }) => {
      refuseBatch(context, body.token, 'revoked');
      const token = await requireTokenToRevoke(context, caller, body).catch(absentIsRevoked);
      if (token !== undefined) await revoke(context.db, token.accessor);
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
    },
  });

/** Revoking a token that does not exist succeeds. */
function absentIsRevoked(error: unknown): undefined {
  if (error instanceof Problem && error.kind === 'not_found') return undefined;
  throw error;
}
