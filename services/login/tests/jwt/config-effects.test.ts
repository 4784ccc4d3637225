import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { exportSPKI, generateKeyPair } from 'jose';
import type { JwtConfig } from '../../src/auth-methods/jwt/config/config-settings.ts';
import { useJwt } from './jwt-for-test.ts';

// A field that nothing uses would be accepted, stored and shown, and change nothing.

const { jwt, issuer } = useJwt();

const certificate = () =>
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', '/dev/null', '-subj', '/CN=x'],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString();

/** Fields of sign-in, which are tested with that. The last three have one value. */
type OfSignIn = 'oidc_client_id' | 'oidc_response_mode' | 'oidc_response_types' | 'provider_config';

/** Configurations of which the second has the field, and whose outcomes differ. */
const pairs: { [Field in keyof Omit<JwtConfig, OfSignIn>]: () => Promise<[object, object]> } = {
  oidc_discovery_url: async () => [await ofOtherKey(), { oidc_discovery_url: issuer.url }],
  jwks_url: async () => [await ofOtherKey(), { jwks_url: `${issuer.url}/keys` }],
  jwt_validation_pubkeys: async () => [{ oidc_discovery_url: issuer.url }, await ofOtherKey()],
  bound_issuer: async () => [
    { oidc_discovery_url: issuer.url },
    { oidc_discovery_url: issuer.url, bound_issuer: 'https://other.example' },
  ],
  jwt_supported_algs: async () => [
    { oidc_discovery_url: issuer.url },
    { oidc_discovery_url: issuer.url, jwt_supported_algs: ['ES256'] },
  ],
  default_role: async () => [
    { oidc_discovery_url: issuer.url },
    { oidc_discovery_url: issuer.url, default_role: 'web' },
  ],
  oidc_discovery_ca_pem: async () => [
    {},
    { oidc_discovery_url: issuer.url, oidc_discovery_ca_pem: certificate() },
  ],
  jwks_ca_pem: async () => [{}, { jwks_url: `${issuer.url}/keys`, jwks_ca_pem: certificate() }],
};

const ofOtherKey = async () => ({
  jwt_validation_pubkeys: [
    (await exportSPKI((await generateKeyPair('RS256', { extractable: true })).publicKey)).trim(),
  ],
});

test.each(Object.entries(pairs))('%s of a configuration is shown, and has an effect', async (field, pair) => {
  const [without, having] = await pair();
  const outcome = async (body: object) => {
    const { status } = await jwt.configure(body);
    return [status, (await jwt.logIn(await issuer.sign(), '')).status, (await jwt.logInWith()).status];
  };
  const before = await outcome(without);
  expect(await outcome(having)).not.toEqual(before);
  const { data } = (await jwt.service.call('GET', '/auth/jwt/config')).body;
  expect(data[field]).toEqual(
    field.endsWith('pem') ? expect.stringContaining('CERTIFICATE') : (having as never)[field],
  );
});
