import { type Answer, type Api, expectStatus } from '../harness/http.ts';
import { type Installation, startInstallation } from '../harness/installation.ts';
import type { OpenApiDocument } from './operations.ts';

/** An installation with something of each kind for the requests to find, and its description. */
export interface DescribedInstallation {
  system: Installation;
  document: OpenApiDocument;
  known(path: string, name: string): readonly string[];
}

export async function startDescribed(): Promise<DescribedInstallation> {
  const system = await startInstallation();
  await prepare(system);
  const document = (await system.api('GET', 'sys/internal/specs/openapi')).body as OpenApiDocument;
  return { system, document, known };
}

/** Creates what requests find, unless it exists. */
export async function prepare({ api, sandbox }: Installation): Promise<void> {
  await api('POST', 'sys/mounts/kv', { type: 'kv', options: { version: '2' } });
  await api('POST', 'kv/data/s', { data: { a: '1' } });
  const destination = { ...(await sandbox.credentials()), region: 'eu-west-1' };
  await api('POST', 'sys/sync/destinations/cloudA-sm/d', destination);
  await api('POST', 'sys/auth/cloudB', { type: 'cloudB' });
  await api('POST', 'sys/namespaces/team', {});
  await api('POST', 'sys/policies/acl/p', { policy: 'path "kv/*" { capabilities = ["read"] }' });
}

/** Returns the names that `startDescribed` has created and that fit a parameter of a path; empty if there is none. */
export function known(path: string, name: string): readonly string[] {
  if (name === 'mount') return [path.startsWith('/v1/auth/') ? 'cloudB' : 'kv'];
  if (name === 'type') return ['cloudA-sm'];
  if (path.startsWith('/v1/sys/sync/destinations')) return name === 'name' ? ['d'] : [];
  if (path.startsWith('/v1/sys/polic')) return name === 'name' ? ['p'] : [];
  if (path.startsWith('/v1/sys/namespaces')) return ['team'];
  if (path.startsWith('/v1/sys/auth')) return ['cloudB'];
  if (path.startsWith('/v1/sys/mounts')) return ['kv'];
  return name === 'path' || name === 'secret_name' ? ['s'] : [];
}

/** A client with all rights, whose requests may revoke its token, or delete what it depends on. */
export const withFreshTokens = (system: Installation): Api =>
  sendWithFreshTokens(system, (token, ...request: Parameters<Api>) => system.as(token)(...request));

/** Sends requests with a token that has all rights. If one returns 403, the next ones have another token. */
export function sendWithFreshTokens<Request extends unknown[]>(
  { api: root }: Installation,
  send: (token: string, ...request: Request) => Promise<Answer>,
): (...request: Request) => Promise<Answer> {
  const fresh = async (): Promise<string> => {
    const { body } = expectStatus(
      await root('POST', 'auth/token/create', { policies: ['root'], no_parent: true }),
      200,
    );
    return body.auth.client_token;
  };
  let token: Promise<string> = fresh();
  return async (...request) => {
    const used = token;
    const answer = await send(await used, ...request);
    if (answer.status === 403 && token === used) token = fresh();
    return answer;
  };
}
