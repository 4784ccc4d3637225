import type { Caller } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import { z } from 'zod';
import type { AuthMountRow } from '../../../queries/auth-mounts.ts';
import { presentAuth } from '../../../tokens/present-token.ts';
import { type MethodEndpoint, methodEndpoint } from '../../auth-method.ts';
import { counted } from '../../login-counter.ts';
import { loginFields } from '../../roles/login-fields.ts';
import type { JwtContext } from '../jwt-context.ts';
import { beginSignIn } from './begin-sign-in.ts';
import { completeSignIn } from './complete-sign-in.ts';

const text = (max: number) => z.string().max(max);

const clientNonce = z
  .string()
  .min(16, 'must have at least 16 characters, which only this client knows')
  .max(512);

const SignInBody = z.object({
  role: z.union([z.literal(''), loginFields.role]).default(''),
  redirect_uri: text(2_048).min(1, 'must not be empty'),
  client_nonce: clientNonce,
});

const SignInResult = z.object({
  state: text(8_192).min(1, 'must not be empty'),
  client_nonce: clientNonce,
  code: text(8_192).default(''),
  iss: text(2_048).default(''),
  error: text(256).default(''),
});

/** `auth/<mount>/oidc/…`: sign-in of people with a browser (docs/conventions/oidc.md). */
export const oidcEndpoints = (context: JwtContext): MethodEndpoint[] => [
  readAuthUrl(context),
  readCallback(context),
  postCallback(context),
];

const atMount = ({ namespace, remoteAddress, newestChange }: Caller, mount: AuthMountRow) => ({
  namespaceId: namespace.id,
  mount: mount.path,
  mountId: mount.id,
  remoteAddress,
  newestChange,
});

const readAuthUrl = (context: JwtContext) =>
  methodEndpoint({
    method: 'post',
    path: '/oidc/auth_url',
    summary: 'Begin to sign in with a browser: read the URL of the provider',
    access: { isLogin: true },
    needs: 'no token',
    body: SignInBody,
    handle: async ({ mount, body, caller }) => {
      const request = { role: body.role, redirectUri: body.redirect_uri, clientNonce: body.client_nonce };
      return { data: { auth_url: await beginSignIn(context, atMount(caller, mount), request) } };
    },
  });

const summary = 'Complete a sign-in with what the provider has sent the browser back with';
const path = '/oidc/callback';

const readCallback = (context: JwtContext) =>
  methodEndpoint({
    method: 'get',
    path,
    summary,
    access: { isLogin: true },
    query: SignInResult,
    handle: ({ mount, query, caller }) => complete(context, caller, mount, query),
  });

const postCallback = (context: JwtContext) =>
  methodEndpoint({
    method: 'post',
    path,
    summary,
    access: { isLogin: true },
    needs: 'no token',
    body: SignInResult,
    handle: ({ mount, body, caller }) => complete(context, caller, mount, body),
  });

const complete = (
  context: JwtContext,
  caller: Caller,
  mount: AuthMountRow,
  { client_nonce, ...response }: z.output<typeof SignInResult>,
) =>
  counted(context.loginCounter, async () => {
    if ((response.code === '') === (response.error === ''))
      throw invalid('exactly one of code or error is required');
    const issued = await completeSignIn(context, atMount(caller, mount), {
      ...response,
      clientNonce: client_nonce,
    });
    return { auth: presentAuth(issued) };
  });
