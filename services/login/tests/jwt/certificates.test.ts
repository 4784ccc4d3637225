import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type LoginForTest, startLoginForTest } from '../login-for-test.ts';
import { type IssuerForTest, startIssuer } from './issuer-for-test.ts';

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
let url: string;
const [own, other] = [createCertificate('own'), createCertificate('other')];
const server = createServer({ key: readFileSync(file('own.key')), cert: own }, (_request, response) =>
  response.end(JSON.stringify(issuer.keySet())),
);

beforeAll(async () => {
  issuer = await startIssuer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  url = `https://127.0.0.1:${port}/keys`;
  login = await startLoginForTest({ egressAllow: [`127.0.0.1/32:${port}`] });
  await login.call('POST', '/sys/auth/jwt', { type: 'jwt' });
});
afterAll(async () => {
  await Promise.all([login.stop(), issuer.stop()]);
  server.close().closeAllConnections();
  rmSync(folder, { recursive: true });
});

const configure = (over: object) =>
  login.call('POST', '/auth/jwt/config', { jwks_url: url, bound_issuer: issuer.url, ...over });

test('keys are fetched over TLS only from whom a configured or known authority vouches for', async () => {
  const unknown = { status: 400, body: { errors: ['jwks_url: the directory does not respond'] } };
  expect(await configure({})).toMatchObject(unknown);
  expect(await configure({ jwks_ca_pem: other })).toMatchObject(unknown);
  expect((await configure({ jwks_ca_pem: own })).status).toBe(204);
  expect((await configure({ jwks_ca_pem: other + own })).status).toBe(204);
});
