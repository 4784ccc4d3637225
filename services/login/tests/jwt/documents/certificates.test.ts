import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type LoginForTest, startLoginForTest } from '../../login-for-test.ts';
import { type IssuerForTest, startIssuer } from '../issuer-for-test.ts';

const folder = mkdtempSync(join(tmpdir(), 'jwt-certificates-'));
const file = (name: string) => join(folder, name);

/** A certificate of 127.0.0.1 that is its own authority. */
function createCertificate(name: string): string {
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
    stdio: 'ignore',
  });
  return readFileSync(file(`${name}.pem`), 'utf8');
}

let login: LoginForTest;
let issuer: IssuerForTest;
let base: string;
const [own, other] = [createCertificate('own'), createCertificate('other')];
const server = createServer({ key: readFileSync(file('own.key')), cert: own }, (request, response) =>
  response.end(JSON.stringify(request.url === '/keys' ? issuer.keySet() : discoveryDocument())),
);
const discoveryDocument = () => ({ issuer: base, jwks_uri: `${base}/keys` });

beforeAll(async () => {
  issuer = await startIssuer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  base = `https://127.0.0.1:${port}`;
  login = await startLoginForTest({ egressAllow: [`127.0.0.1/32:${port}`] });
  await login.call('POST', '/sys/auth/jwt', { type: 'jwt' });
});
afterAll(async () => {
  await Promise.all([login.stop(), issuer.stop()]);
  server.close().closeAllConnections();
  rmSync(folder, { recursive: true });
});

const configure = (body: object) => login.call('POST', '/auth/jwt/config', body);

/** The status of a login with a JWT of the issuer that the mount is to trust. */
async function logIn(iss: string): Promise<number> {
  const role = { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'secrets', bound_subject: 'w-1' };
  await login.call('POST', '/auth/jwt/role/web', role);
  const jwt = await issuer.sign({ iss, aud: 'secrets', sub: 'w-1' });
  return (await login.call('POST', '/auth/jwt/login', { role: 'web', jwt })).status;
}

describe.each([
  ['jwks_url', 'jwks_ca_pem', () => ({ jwks_url: `${base}/keys`, bound_issuer: base })],
  ['oidc_discovery_url', 'oidc_discovery_ca_pem', () => ({ oidc_discovery_url: base })],
])('over TLS, the keys of %s are fetched', (source, authorities, config) => {
  test('only from whom a configured or known authority vouches for', async () => {
    const unknown = { status: 400, body: { errors: [`${source}: the directory does not respond`] } };
    expect(await configure(config())).toMatchObject(unknown);
    expect(await configure({ ...config(), [authorities]: other })).toMatchObject(unknown);
    expect((await configure({ ...config(), [authorities]: own })).status).toBe(204);
    expect((await configure({ ...config(), [authorities]: other + own })).status).toBe(204);
  });

  test('and verify a login, unless the authority is another', async () => {
    const skipped = { ...config(), skip_jwks_validation: true };
    await configure({ ...skipped, [authorities]: other });
    expect(await logIn(base)).toBe(503);
    await configure({ ...config(), [authorities]: own });
    expect(await logIn(base)).toBe(200);
  });
});
