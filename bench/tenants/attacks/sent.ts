import type { Api } from '../../system/api-client.ts';

/** The parts of a request. */
export interface Sent {
  method?: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: string;
  headers?: Record<string, string>;
  token?: string;
}

/** A request with its name. */
export type Named = [name: string, sent: Sent];

/** Creates a token with these policies. */
export async function tokenOf(api: Api, policies: string[]): Promise<string> {
  const { auth } = (await api('POST', 'auth/token/create', { policies })) as {
    auth: { client_token: string };
  };
  return auth.client_token;
}
