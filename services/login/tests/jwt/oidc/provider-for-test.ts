import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Browser } from '@secrets/testing/browser';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { type AdapterConstructor, type Configuration, Provider } from 'oidc-provider';
// @ts-expect-error it has no types
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js';

export const clientId = 'secrets-service';
export const clientSecret = 'a-secret-of-the-client';
/** That of a command-line client. */
export const redirectUri = 'http://127.0.0.1:8250/oidc/callback';
export const consoleUri = 'https://secrets.example/ui/signed-in';

/** A provider that signs users in without asking them, with the claims that a test chooses. */
export interface ProviderForTest {
  url: string;
  port: number;
  /** The next user, and their claims. */
  user: { sub: string; claims: Record<string, unknown> };
  /** Follows the URL of a sign-in as a browser does, until it returns. Keeps the session of the browser. */
  visit(authUrl: string, browser?: Browser): Promise<URLSearchParams>;
  stop(): Promise<void>;
}

/** Being another class, it is used without a warning that nothing is kept. */
class KeptInMemory extends MemoryAdapter {}

/** The settings of the provider. */
const usual: Configuration = {
  adapter: KeptInMemory as unknown as AdapterConstructor,
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri, consoleUri],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  claims: { openid: ['sub'], profile: ['groups', 'email', 'department', 'nbf'] },
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
  cookies: { keys: ['a-key-of-the-cookies'] },
  ttl: { Session: 3_600, AccessToken: 600, IdToken: 600, Grant: 3_600, Interaction: 600 },
};

/** @param settings of the provider, besides those of a client with a secret */
export async function startProvider(settings: Record<string, unknown> = {}): Promise<ProviderForTest> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const state = { user: { sub: 'ann', claims: {} as Record<string, unknown> } };
  const provider = new Provider(url, {
    ...usual,
    jwks: { keys: [await signingKey()] as never },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ ...state.user.claims, sub: id }) }),
    ...settings,
  });
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void provider.callback()(request, response);
    void signIn(provider, state.user.sub, { request, response }).catch((error: Error) =>
      response.writeHead(500).end(error.message),
    );
  });
  return {
    url,
    port,
    visit: (authUrl, browser = new Browser()) => browser.signIn(authUrl, redirectUri),
    get user() {
      return state.user;
    },
    set user(next) {
      state.user = next;
    },
    stop: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

async function signingKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: 'key-1', use: 'sig', alg: 'RS256' };
}

/** Signs the user in, and grants what the client asks for. */
async function signIn(provider: Provider, accountId: string, { request, response }: Exchange): Promise<void> {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId, clientId: params.client_id as string });
  grant.addOIDCScope(String(params.scope));
  const result = { login: { accountId }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}
