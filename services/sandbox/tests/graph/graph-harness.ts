import type { TokenCredential } from '@azure/identity';
import {
  AuthenticationHandler,
  Client,
  type Middleware,
  RetryHandler,
} from '@microsoft/microsoft-graph-client';
import type { Sandbox } from '../../src/sandbox.ts';
import { applicationCredential } from '../stores/cloudb/provider-clients.ts';

const scope = 'https://graph.microsoft.com/.default';

/** A password, as Graph returns it. */
export interface PasswordCredential {
  keyId: string;
  displayName: string | null;
  hint: string;
  startDateTime: string;
  endDateTime: string;
  secretText: string | null;
}

/** Sends what is meant for Graph to the sandbox. The client sends tokens over https only, and the sandbox has no certificate. */
const redirectedTo = (sandbox: Sandbox): Middleware => ({
  async execute(context) {
    const { host, pathname, search } = new URL(String(context.request));
    const headers = new Headers(context.options?.headers as Record<string, string>);
    headers.set('x-forwarded-host', host);
    const url = `${sandbox.graphUrl}${pathname}${search}`;
    context.response = await fetch(url, { ...(context.options as RequestInit), headers });
  },
});

/** The provider's own client for Graph, and its calls for the passwords of the sandbox's application. */
export function graphClient(sandbox: Sandbox, credential: TokenCredential = applicationCredential(sandbox)) {
  const authentication = new AuthenticationHandler({
    getAccessToken: async () => (await credential.getToken(scope))?.token ?? '',
  });
  const retries = new RetryHandler();
  authentication.setNext(retries);
  retries.setNext(redirectedTo(sandbox));
  const client = Client.initWithMiddleware({ middleware: authentication });
  const { objectId } = sandbox.directory.application;
  const path = `/applications/${objectId}`;
  return {
    client,
    path,
    passwords: async (): Promise<PasswordCredential[]> => (await client.api(path).get()).passwordCredentials,
    addPassword: (passwordCredential: object = {}): Promise<PasswordCredential> =>
      client.api(`${path}/addPassword`).post({ passwordCredential }),
    removePassword: (keyId: string): Promise<void> => client.api(`${path}/removePassword`).post({ keyId }),
  };
}
