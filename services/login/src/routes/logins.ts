import { Problem } from '@secrets/domain';
import { type Endpoint, endpoint, parseInput, unknownFieldWarnings } from '@secrets/http';
import { z } from 'zod';
import { type AuthMethod, type LoginEndpoint, NoSuchMount } from '../auth-methods/auth-method.ts';
import { noAuthMount } from '../auth-mounts/require-auth-mount.ts';
import type { Context } from '../context.ts';
import type { IssuedToken } from '../tokens/issue-token.ts';
import { presentAuth } from '../tokens/present-token.ts';

/** `auth/<mount>/login` (docs/conventions.md#29-auth-mounts), which needs no token. */
export const loginEndpoints = (context: Context): Endpoint[] => [logIn(context)];

const path = '/auth/*mount/login';

const logIn = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Log in with the method of the mount',
    params: z.object({ mount: z.string() }),
    body: z.unknown(),
    describedAs: context.methods.all.map(describedLogin),
    handle: async ({ params: { mount }, body, caller, warn }) => {
      const at = { namespaceId: caller.namespace.id, mount, remoteAddress: caller.remoteAddress };
      const issued = await counted(context, () =>
        withMethodOf(context, at, (method) => {
          for (const sentence of unknownFieldWarnings(method.loginBody, body)) warn(sentence);
          return method.login(at, parseInput(method.loginBody, body) as never);
        }),
      );
      return { auth: presentAuth(issued) };
    },
  });

const describedLogin = ({ type, loginBody }: AuthMethod): Endpoint =>
  ({ method: 'post', path, summary: `Log in with ${type}`, body: loginBody }) as Endpoint; // has no handler

/** Runs a login with the method of its mount, and once more if what was cached of the mount is outdated. */
async function withMethodOf(
  { methods, mountTypes }: Context,
  at: LoginEndpoint,
  run: (method: AuthMethod) => Promise<IssuedToken>,
): Promise<IssuedToken> {
  for (let attempt = 0; attempt < 2; attempt++) {
    const type = await mountTypes.find(at);
    const method = type === undefined ? undefined : methods.ofType(type);
    if (method === undefined) break;
    try {
      return await run(method);
    } catch (error) {
      if (!(error instanceof NoSuchMount)) throw error;
      mountTypes.forget(at);
    }
  }
  throw noAuthMount(at.mount);
}

async function counted<T>({ loginCounter }: Context, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    loginCounter.inc({ outcome: 'issued' });
    return result;
  } catch (error) {
    loginCounter.inc({ outcome: error instanceof Problem ? error.kind : 'failed' });
    throw error;
  }
}
