import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Problem } from '@secrets/domain';
import { directories } from '../../../src/auth-methods/cloudb/directory/environments.ts';
import { TenantKeys } from '../../../src/auth-methods/cloudb/directory/tenant-keys.ts';
import { verifyDirectoryToken } from '../../../src/auth-methods/cloudb/directory/verify-directory-token.ts';
import { anonymous } from '../../login-for-test.ts';
import { audience, type IssuerForTest, startIssuer } from '../issuer-for-test.ts';
import { useJwt } from '../jwt-for-test.ts';
import { hostileDocuments } from './hostile-documents.ts';

describe('a login through jwt', () => {
  const { jwt, login, issuer } = useJwt();
  const logIn = async () => {
    await jwt.configure({ oidc_discovery_url: issuer.url, skip_jwks_validation: true });
    return login.call('POST', '/auth/jwt/login', { role: 'web', jwt: await issuer.sign() }, anonymous);
  };

  test.each(hostileDocuments)('is refused by $title', async ({ documents }) => {
    issuer.reset();
    expect((await logIn()).status).toBe(200);
    issuer.serve(documents({ discovery: issuer.discovery(), key: issuer.jwk }));
    const start = performance.now();
    const { status, body } = await logIn();
    expect([403, 502, 503]).toContain(status);
    expect(body.errors).toHaveLength(1);
    expect(JSON.stringify(body)).not.toMatch(/evil|passwd|169\.254/);
    expect(performance.now() - start).toBeLessThan(4_000);
  });

  test.each(hostileDocuments.filter(({ title }) => title.startsWith('a discovery')))(
    'is not configured with $title',
    async ({ documents }) => {
      issuer.serve(documents({ discovery: issuer.discovery(), key: issuer.jwk }));
      expect((await jwt.configure({ oidc_discovery_url: issuer.url })).status).toBe(400);
    },
  );
});

describe('a login through cloudB', () => {
  const tenantId = 'aaaaaaaa-0000-4000-8000-000000000001';
  const issuerOfTenant = `${directories.public.issuersV2[0]}/${tenantId}/v2.0`;
  let directory: IssuerForTest;
  beforeAll(async () => {
    directory = await startIssuer(`/${tenantId}/v2.0/.well-known/openid-configuration`);
  });
  afterAll(() => directory.stop());

  const discovery = () => ({ ...directory.discovery(), issuer: issuerOfTenant });
  const outcome = async () => {
    const token = await directory.sign({ iss: issuerOfTenant, tid: tenantId, oid: 'o' });
    const keys = new TenantKeys({ authority: directory.url, environment: 'public', tenantId });
    const config = { environment: 'public' as const, tenant_id: tenantId, resource: audience };
    return verifyDirectoryToken(token, keys.find, config, new Date()).then(
      () => 'verified',
      (error: unknown) => (error instanceof Problem ? error.kind : error),
    );
  };

  test.each(hostileDocuments.filter(({ ofChosenHosts }) => ofChosenHosts !== true))(
    'is refused by $title',
    async ({ documents }) => {
      directory.serve({ discovery: discovery() });
      expect(await outcome()).toBe('verified');
      directory.serve({
        discovery: discovery(),
        ...documents({ discovery: discovery(), key: directory.jwk }),
      });
      expect(['bad_gateway', 'unavailable', 'forbidden']).toContain(await outcome());
    },
  );
});
