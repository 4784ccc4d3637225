import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export {
  flexibleInstance,
  flexibleScaleSet,
  uniformScaleSet,
  userAssignedIdentity,
  virtualMachine,
  webSite,
} from './resource-manager/resources/resource-specs.ts';

/** An issuer of identity tokens for tests of what the sandbox trusts. */
export interface TestIssuer {
  /** Its base URL, which is `iss` in its tokens. */
  url: string;
  /** Signs a token; claims in `over` take the place of the usual ones, and `wrongKey` signs with a key that is not published. */
  issue(
    claims: { sub: string; aud: string },
    over?: object,
    options?: { wrongKey?: boolean },
  ): Promise<string>;
  /** From now on, the documents cannot be fetched. */
  hide(): void;
  stop(): Promise<void>;
}

export async function startTestIssuer(): Promise<TestIssuer> {
  const [published, other] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  const kid = randomUUID();
  const keys = [{ ...(await exportJWK(published.publicKey)), kid, use: 'sig', alg: 'RS256' }];
  let isHidden = false;
  const server = createServer((request, response) => {
    const documents: Record<string, unknown> = {
      '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': { keys },
    };
    const document = isHidden ? undefined : documents[request.url ?? ''];
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    issue: (claims, over = {}, { wrongKey = false } = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: url, iat: now, exp: now + 600, jti: randomUUID() };
      return new SignJWT({ ...usual, ...claims, ...over })
        .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid })
        .sign((wrongKey ? other : published).privateKey);
    },
    hide: () => {
      isHidden = true;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Starts an issuer for the tests of this file, and stops it after them. A driver gets its identity tokens, which are
 * about `subject`.
 */
export function useTestIssuer(subject: string) {
  let issuer: TestIssuer;
  const asked: object[] = [];
  beforeAll(async () => {
    issuer = await startTestIssuer();
  });
  beforeEach(() => void asked.splice(0));
  afterAll(() => issuer?.stop());
  return {
    get url() {
      return issuer.url;
    },
    issue: (...token: Parameters<TestIssuer['issue']>) => issuer.issue(...token),
    identityToken: async (options: { audience: string }) => {
      asked.push(options);
      return issuer.issue({ sub: subject, aud: options.audience });
    },
    /** The requests for identity tokens of this test. */
    asked,
  };
}
