import { notFound, Problem } from '@secrets/domain';
import { type Endpoint, endpoint, parseLeniently, unknownFieldWarnings } from '@secrets/http';
import { z } from 'zod';
import { type AuthMethod, type LoginEndpoint, NoSuchMount } from '../auth-methods/auth-method.ts';
import { noAuthMount } from '../auth-mounts/require-auth-mount.ts';
import type { Context } from '../context.ts';
import type { IssuedToken } from '../tokens/issue-token.ts';
import { presentAuth } from '../tokens/present-token.ts';

const LoginParams = z.object({ mount: z.string() });

const path = '/auth/*mount/login';

/** `auth/<mount>/login` (docs/conventions.md#29-auth-mounts), which needs no token. */
export const loginEndpoints = (context: Context): Endpoint[] => [logIn(context)];

const logIn = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Log in with the method of the mount',
    needs: 'no token',
    params: LoginParams,
    body: z.unknown(),
    describedAs: context.methods.all.map(describedLogin),
    handle: async ({ params, body, caller, warn }) => {
      const { namespace, remoteAddress, accessEpoch } = caller;
      const at = { namespaceId: namespace.id, mount: params.mount, remoteAddress, accessEpoch };
      const { issued, warnings } = await counted(context, () => logInAt(context, at, body));
      warnings.forEach(warn);
      return { auth: presentAuth(issued) };
    },
  });

const describedLogin = ({ type, loginBody }: AuthMethod): Endpoint =>
  ({ method: 'post', path, summary: `Log in with ${type}`, body: loginBody }) as Endpoint; // has no handler

interface Outcome {
  issued: IssuedToken;
  warnings: string[];
}

/**
 * Logs in with the method of a mount. The cached type of the mount may be outdated: if its method finds no such mount or
 * does not accept the body, the type is read again.
 */
async function logInAt(context: Context, at: LoginEndpoint, body: unknown): Promise<Outcome> {
  const { mountTypes } = context;
  try {
    return await logInWith(context, await mountTypes.find(at), { at, body, isTypeCurrent: false });
  } catch (error) {
    if (!(error instanceof NoSuchMount)) throw error;
  }
  try {
    return await logInWith(context, await mountTypes.refresh(at), { at, body, isTypeCurrent: true });
  } catch (error) {
    throw error instanceof NoSuchMount ? notFound(noAuthMount(at.mount)) : error;
  }
}

async function logInWith(
  context: Context,
  type: string | undefined,
  { at, body, isTypeCurrent }: { at: LoginEndpoint; body: unknown; isTypeCurrent: boolean },
): Promise<Outcome> {
  const method = type === undefined ? undefined : context.methods.ofType(type);
  if (method === undefined) throw new NoSuchMount();
  const request = parsedBody(method, body, isTypeCurrent);
  const issued = await method.login(at, request as never);
  return { issued, warnings: unknownFieldWarnings(method.loginBody, body) };
}

function parsedBody({ loginBody }: AuthMethod, body: unknown, isTypeCurrent: boolean): unknown {
  try {
    return parseLeniently(loginBody, body);
  } catch (error) {
    throw isTypeCurrent ? error : new NoSuchMount();
  }
}

async function counted<T>(context: Context, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    context.loginCounter.inc({ outcome: 'issued' });
    return result;
  } catch (error) {
    context.loginCounter.inc({ outcome: error instanceof Problem ? error.kind : 'failed' });
    throw error;
  }
}
