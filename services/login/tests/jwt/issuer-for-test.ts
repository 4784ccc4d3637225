import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWK, SignJWT } from 'jose';

/** Answers one request for a document. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An issuer of JWTs with its discovery document and its key set, both of which a test can replace. */
export interface IssuerForTest {
  url: string;
  port: number;
  kid: string;
  keys: GenerateKeyPairResult;
  jwk: JWK;
  /** The usual documents. */
  discovery(): Record<string, unknown>;
  keySet(): { keys: JWK[] };
  /** Replaces documents until `reset`: by a text, a value or an answer. */
  serve(documents: { discovery?: unknown; keys?: unknown }): void;
  reset(): void;
  /** The number of requests so far. */
  requests(): number;
  /** Signs claims, besides the usual ones, with RS256 unless the header says otherwise. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  /** Signs these claims and no others. */
  signOnly(claims: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>;
  stop(): Promise<void>;
}

const kid = 'key-1';
export const audience = 'https://secrets.example';
export const subject = 'repo:acme/shop:ref:refs/heads/main';

/** Seconds since 1970. */
export const secondsNow = (): number => Math.floor(Date.now() / 1_000);

/** @param discoveryPath where the discovery document is */
export async function startIssuer(
  discoveryPath = '/.well-known/openid-configuration',
): Promise<IssuerForTest> {
  const keys = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(keys.publicKey)), kid, use: 'sig' };
  let replaced: { discovery?: unknown; keys?: unknown } = {};
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    const isDiscovery = request.url === discoveryPath;
    const document = isDiscovery
      ? (replaced.discovery ?? issuer.discovery())
      : (replaced.keys ?? issuer.keySet());
    if (typeof document === 'function') (document as Answer)(request, response);
    else response.end(typeof document === 'string' ? document : JSON.stringify(document));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const issuer: IssuerForTest = {
    url,
    port,
    kid,
    keys,
    jwk,
    discovery: () => ({ issuer: url, jwks_uri: `${url}/keys` }),
    keySet: () => ({ keys: [jwk] }),
    serve: (documents) => {
      replaced = documents;
    },
    reset: () => {
      replaced = {};
    },
    requests: () => count,
    sign: (claims = {}, header = {}) => issuer.signOnly({ ...usualClaims(url), ...claims }, header),
    signOnly: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT', ...header })
        .sign(keys.privateKey),
    stop: async () => {
      server.close().closeAllConnections();
      await once(server, 'close');
    },
  };
  return issuer;
}

/** The claims of a token with which a login through the role `web` succeeds. */
export const usualClaims = (iss: string): Record<string, unknown> => ({
  iss,
  aud: audience,
  sub: subject,
  repository: 'acme/shop',
  environment: 'production',
  iat: secondsNow(),
  exp: secondsNow() + 300,
});
