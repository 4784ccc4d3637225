import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where the jobs of GitHub Actions request ID tokens. */
export interface TokenRequests {
  /** The variables of a job that may request tokens. */
  env: { ACTIONS_ID_TOKEN_REQUEST_URL: string; ACTIONS_ID_TOKEN_REQUEST_TOKEN: string };
  stop(): Promise<void>;
}

const bearer = 'a-token-of-the-job';

/** @param sign issues a token for the audience of the request */
export async function startTokenRequests(
  sign: (audience: string) => Promise<string>,
): Promise<TokenRequests> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, 'http://localhost');
    const isJob = request.headers.authorization?.toLowerCase() === `bearer ${bearer}`;
    if (!isJob || searchParams.get('api-version') !== '2.0') return void response.writeHead(401).end();
    void sign(searchParams.get('audience') ?? 'https://github.com/acme').then((value) =>
      response.end(JSON.stringify({ count: 1, value })),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    env: {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${port}/idtoken/x?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer,
    },
    stop: async () => {
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
}
