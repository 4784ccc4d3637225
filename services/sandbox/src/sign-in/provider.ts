import { randomUUID } from 'node:crypto';
import express from 'express';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { AdapterConstructor, Configuration, Provider } from 'oidc-provider';
import { sendSignInPage } from './page.ts';
import { people } from './people.ts';

/** The provider, and the client that is registered at it. The client has no secret: PKCE protects it. */
export interface SignInProvider {
  issuer: string;
  clientId: string;
  redirectUris: readonly string[];
}

const client = {
  clientId: 'secrets-service',
  /** On the user's own machine, where any port will do (RFC 8252): the console, and command-line clients. */
  redirectUris: ['127.0.0.1', 'localhost'].flatMap((host) => [
    `http://${host}:8200/ui/signed-in`,
    `http://${host}:8250/oidc/callback`,
  ]),
};

export const providerPath = '/provider';

/** @param url the URL of the sandbox */
export const signInAt = (url: string): SignInProvider => ({ ...client, issuer: `${url}${providerPath}` });

/**
 * An OpenID provider for people, with the rules of a real one: `oidc-provider` implements it, and only its page is ours. It is
 * loaded with the first request. Sessions and keys end with the process.
 * @param url the URL of the sandbox, once it is known
 */
export function signInRoutes(url: () => string): express.Router {
  let provider: Promise<Provider> | undefined;
  const start = () => (provider ??= startProvider(signInAt(url()).issuer));
  const routes = express.Router();
  routes.get('/interaction/:uid', (_request, response) => sendSignInPage(response));
  routes.post(
    '/interaction/:uid',
    express.urlencoded({ limit: '4kb', extended: false }),
    async (request, response) => {
      const person = people.find(({ id }) => id === (request.body as { person?: unknown }).person);
      if (person === undefined) return void response.status(400).json({ errors: ['person: is not known'] });
      await signIn(await start(), person.id, { request, response });
    },
  );
  routes.use(async (request, response) => (await start()).callback()(request, response));
  return routes;
}

async function startProvider(issuer: string): Promise<Provider> {
  const { Provider } = await import('oidc-provider');
  return new Provider(issuer, await configuration());
}

async function configuration(): Promise<Configuration> {
  const { interactionPolicy } = await import('oidc-provider');
  const policy = interactionPolicy.base();
  // As a native client, the console could not return silently after a reload. It is one only so that any port will do.
  policy.get('consent')?.checks.remove('native_client_prompt');
  // @ts-expect-error it has no types
  const { default: MemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js');
  return {
    // Being another class, it is used without a warning that nothing is kept.
    adapter: class extends MemoryAdapter {} as unknown as AdapterConstructor,
    jwks: { keys: [await signingKey()] as never },
    clients: [
      {
        client_id: client.clientId,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: client.redirectUris,
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub', 'groups', 'name'] },
    conformIdTokenClaims: false,
    findAccount: (_context, id) => {
      const person = people.find((one) => one.id === id);
      if (person === undefined) return undefined;
      const claims = { sub: id, name: person.name, groups: [...person.groups] };
      return { accountId: id, claims: () => claims };
    },
    features: { devInteractions: { enabled: false } },
    interactions: { policy, url: (_context, { uid }) => `${providerPath}/interaction/${uid}` },
    renderError: (context, { error, error_description }) => {
      context.body = { errors: [`${error}: ${error_description}`] };
    },
    cookies: { keys: [randomUUID()] },
    ttl: {
      Session: 28_800,
      AccessToken: 600,
      IdToken: 600,
      Grant: 28_800,
      Interaction: 600,
      AuthorizationCode: 60,
    },
  };
}

async function signingKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: randomUUID(), use: 'sig', alg: 'RS256' };
}

/** Signs a person in, and grants what the client asks for. */
async function signIn(
  provider: Provider,
  accountId: string,
  { request, response }: { request: express.Request; response: express.Response },
): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  const result = { login: { accountId }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}
