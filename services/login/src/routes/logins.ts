import { notFound } from '@secrets/domain';
import {
  type Endpoint,
  type EndpointDescription,
  endpoint,
  parseLeniently,
  unknownFieldWarnings,
} from '@secrets/http';
import { z } from 'zod';
import { type AuthMethod, type LoginEndpoint, NoSuchMount } from '../auth-methods/auth-method.ts';
import { counted, type LoginCounter } from '../auth-methods/login-counter.ts';
import { type MountTypes, mountTypes } from '../auth-mounts/mount-types.ts';
import { noAuthMount } from '../auth-mounts/require-auth-mount.ts';
import type { Context } from '../context.ts';
import type { IssuedToken } from '../tokens/issue-token.ts';
import { presentAuth } from '../tokens/present-token.ts';

const LoginParams = z.object({ mount: z.string() });

const path = '/auth/*mount/login';

type Methods = Context['methods'];

/** `auth/<mount>/login` (docs/conventions/access.md#auth-mounts), which needs no token. */
export const loginEndpoints = ({ db, methods }: Context, counter: LoginCounter): Endpoint[] => [
  logIn(methods, mountTypes(db), counter),
];

const logIn = (methods: Methods, types: MountTypes, counter: LoginCounter) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Log in with the method of the mount',
    access: { isLogin: true },
    needs: 'no token',
    params: LoginParams,
    body: z.unknown(),
    describedAs: methods.all.map(describedLogin),
    handle: async ({ params, body, caller, warn }) => {
      const { namespace, remoteAddress, newestChange } = caller;
      const at = { namespaceId: namespace.id, mount: params.mount, remoteAddress, newestChange };
      const prepare = (type: string | undefined) => prepareLogin(methods, type, at, body);
      const { issued, warnings } = await counted(counter, () => logInAt(types, at, prepare));
      warnings.forEach(warn);
      return { auth: presentAuth(issued) };
    },
  });

const describedLogin = ({ type, loginBody }: AuthMethod): EndpointDescription => ({
  method: 'post',
  path,
  summary: `Log in with ${type}`,
  body: loginBody,
});

interface Outcome {
  issued: IssuedToken;
  warnings: string[];
}

/**
 * Logs in with the method of a mount. The cached type of the mount may be outdated: if its method does not accept the
 * body, or finds no such mount, the type is read again.
 */
async function logInAt(
  types: MountTypes,
  at: LoginEndpoint,
  prepare: (type: string | undefined) => LogIn,
): Promise<Outcome> {
  const cachedType = await types.find(at);
  try {
    const logIn = undefinedIfRefused(() => prepare(cachedType));
    if (logIn !== undefined) return await logIn();
  } catch (error) {
    if (!(error instanceof NoSuchMount)) throw error;
  }
  try {
    return await prepare(await types.refresh(at))();
  } catch (error) {
    throw error instanceof NoSuchMount ? notFound(noAuthMount(at.mount)) : error;
  }
}

type LogIn = () => Promise<Outcome>;

/**
 * Parses the body for the method of mounts of a type. The function that it returns logs in.
 * @throws NoSuchMount if no method has this type, or a problem (`invalid`)
 */
function prepareLogin(methods: Methods, type: string | undefined, at: LoginEndpoint, body: unknown): LogIn {
  const method = type === undefined ? undefined : methods.ofType(type);
  if (method === undefined) throw new NoSuchMount();
  const request = parseLeniently(method.loginBody, body);
  const warnings = unknownFieldWarnings(method.loginBody, body);
  return async () => ({ issued: await method.login(at, request as never), warnings });
}

function undefinedIfRefused(prepare: () => LogIn): LogIn | undefined {
  try {
    return prepare();
  } catch {
    return undefined;
  }
}
