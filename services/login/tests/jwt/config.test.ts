import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { contentRow, rowGuard } from '@secrets/access';
import { useJwt } from './jwt-for-test.ts';

const { jwt, login, issuer } = useJwt();
beforeEach(() => issuer.reset());

const spki = (key: { export(options: object): unknown }) =>
  String(key.export({ type: 'spki', format: 'pem' }));
const rsa = (bits: number) => spki(generateKeyPairSync('rsa', { modulusLength: bits }).publicKey);
const strong = rsa(2_048);
const shown = async () => (await login.call('GET', '/auth/jwt/config')).body.data;

describe('a configuration', () => {
  test('is shown as it was written, with the defaults of the other fields', async () => {
    await jwt.configure({ jwt_validation_pubkeys: strong, bound_issuer: 'https://i', default_role: 'web' });
    expect(await shown()).toEqual({
      oidc_discovery_url: '',
      oidc_discovery_ca_pem: '',
      oidc_client_id: '',
      jwks_url: '',
      jwks_ca_pem: '',
      jwt_validation_pubkeys: [strong.trim()],
      bound_issuer: 'https://i',
      jwt_supported_algs: [],
      default_role: 'web',
      oidc_response_mode: '',
      oidc_response_types: [],
      provider_config: {},
    });
  });

  test('may contain what sign-in does anyway, which is shown as it was written', async () => {
    const usual = { oidc_response_mode: 'query', oidc_response_types: ['code'], provider_config: {} };
    const written = await jwt.configure({ oidc_discovery_url: issuer.url, ...usual });
    expect([written.status, written.body]).toEqual([204, undefined]);
    expect(await shown()).toMatchObject(usual);
  });

  test('is replaced by a write, as in Vault', async () => {
    await jwt.configure({ jwt_validation_pubkeys: strong, bound_issuer: 'https://i' });
    expect((await jwt.configure()).status).toBe(204);
    expect(await shown()).toMatchObject({
      oidc_discovery_url: issuer.url,
      jwt_validation_pubkeys: [],
      bound_issuer: '',
    });
  });

  test('does not exist before it is written', async () => {
    await login.call('POST', '/sys/auth/new', { type: 'oidc' });
    expect((await login.call('GET', '/auth/new/config')).status).toBe(404);
    const { data } = (await login.call('GET', '/sys/auth/new')).body;
    expect(data).toMatchObject({ type: 'oidc', accessor: expect.stringMatching(/^auth_jwt_/) });
    const refused = await login.call('POST', '/auth/new/login', { role: 'web', jwt: 'a.b.c' });
    expect([refused.status, refused.body.errors]).toEqual([400, ['this auth mount is not configured']]);
    expect((await login.call('PATCH', '/auth/new/config', {})).status).toBe(405);
  });

  const oneSource = ['exactly one of jwt_validation_pubkeys, jwks_url or oidc_discovery_url must be set'];
  test.each([
    [{}, oneSource],
    [{ jwks_url: 'https://a.example/k', oidc_discovery_url: 'https://a.example' }, oneSource],
    [{ jwks_url: 'https://a.example/k', jwt_validation_pubkeys: strong }, oneSource],
    [{ jwt_validation_pubkeys: strong, jwks_ca_pem: 'x' }, [/^jwks_ca_pem: must be certificates/]],
    [{ oidc_discovery_url: 'http://issuer.example' }, [/^oidc_discovery_url: must be an https URL/]],
    [
      { oidc_discovery_url: 'https://user:canary@issuer.example' },
      [/^oidc_discovery_url: must be an https URL/],
    ],
    [{ jwks_url: 'file:///etc/passwd' }, [/^jwks_url: must be an https URL/]],
    [{ jwks_url: 'http://169.254.169.254/keys' }, [/^jwks_url: must be an https URL/]],
    [
      { jwks_url: 'https://169.254.169.254/keys' },
      [/^jwks_url: the directory is at an address to which LOGIN_EGRESS_ALLOW/],
    ],
    [{ jwks_url: 'https://localhost/keys' }, [/^jwks_url: the directory is at an address/]],
    [{ jwks_url: 'https://10.0.0.1:6443/openid/v1/jwks' }, [/^jwks_url: the directory is at an address/]],
    [
      { oidc_discovery_url: 'http://127.0.0.1:65000' },
      [/^oidc_discovery_url: the directory is at an address/],
    ],
    [{ jwt_validation_pubkeys: rsa(1_024) }, [/^jwt_validation_pubkeys: must be public keys/]],
    [{ jwt_validation_pubkeys: 'x' }, [/^jwt_validation_pubkeys: must be public keys/]],
    [
      { jwt_validation_pubkeys: spki(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey) },
      [/^jwt_validation_pubkeys: must be public keys/],
    ],
    [
      { jwt_validation_pubkeys: spki(generateKeyPairSync('x25519').publicKey) },
      [/^jwt_validation_pubkeys: must be public keys/],
    ],
    [
      {
        jwt_validation_pubkeys: String(
          generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
            type: 'pkcs8',
            format: 'pem',
          }),
        ),
      },
      [/^jwt_validation_pubkeys: must be public keys/],
    ],
    [
      { jwt_validation_pubkeys: Array(21).fill(strong) },
      [/^jwt_validation_pubkeys: must have at most 20 keys/],
    ],
    [{ jwt_validation_pubkeys: strong, jwt_supported_algs: 'HS256' }, [/^jwt_supported_algs: must be among/]],
    [
      { jwt_validation_pubkeys: strong, jwt_supported_algs: ['RS256', 'none'] },
      [/^jwt_supported_algs: must be among/],
    ],
    [{ oidc_response_mode: 'form_post' }, [/^oidc_response_mode: must be query/]],
    [{ oidc_response_types: 'id_token' }, [/^oidc_response_types: must be code/]],
    [{ oidc_response_types: ['code', 'id_token'] }, [/^oidc_response_types: must be code/]],
    [{ provider_config: { provider: 'azure' } }, [/^provider_config: must be empty.*groups_claim/]],
    [{ provider_config: 'azure' }, [/^provider_config: must be an empty map/]],
  ])('is refused as %j', async (body, sentences) => {
    await jwt.configure();
    const before = await shown();
    const { status, body: answer } = await jwt.configure(body);
    expect([status, answer.errors]).toEqual([
      400,
      sentences.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
    ]);
    expect(JSON.stringify(answer)).not.toContain('canary');
    expect(await shown()).toEqual(before);
  });

  test('is not written if its keys cannot be fetched, unless skip_jwks_validation says so', async () => {
    issuer.serve({ keys: 'no keys' });
    const body = { oidc_discovery_url: issuer.url };
    const sentence = "oidc_discovery_url: the directory's key set is invalid";
    expect(await jwt.configure(body)).toMatchObject({ status: 400, body: { errors: [sentence] } });
    const { status, body: answer } = await jwt.configure({ ...body, skip_jwks_validation: true });
    expect([status, answer.warnings]).toEqual([200, [sentence]]);
    expect(await shown()).not.toHaveProperty('skip_jwks_validation');
  });

  test('may contain a certificate in place of a key', async () => {
    const pem = execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', '/dev/null', '-subj', '/CN=x'],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    ).toString();
    expect((await jwt.configure({ jwt_validation_pubkeys: pem, bound_issuer: 'i' })).status).toBe(204);
  });

  test('whose row was damaged admits nobody', async () => {
    await jwt.configure();
    expect((await jwt.logInWith()).status).toBe(200);
    const [row] = await login.db.query<{ id: string; settings: object }>(
      `select c.mount_id as id, c.settings from login.jwt_configs c
         join login.auth_mounts m on m.id = c.mount_id where m.path = 'jwt'`,
    );
    const { id, settings } = row!;
    const damaged = { ...settings, jwt_supported_algs: ['HS256'] };
    await login.db.query(
      'update login.jwt_configs set settings = $2::jsonb, row_hash = $3 where mount_id = $1',
      [
        id,
        JSON.stringify(damaged),
        rowGuard(login.rowKeys).hashOf(contentRow('login.jwt_configs', [id], damaged)),
      ],
    );
    await login.call('POST', '/sys/auth/jwt/tune', { description: 'so that logins notice it' });
    const { status, body } = await jwt.logInWith();
    expect([status, body.errors]).toEqual([
      409,
      [expect.stringContaining('the stored jwt_supported_algs is not valid')],
    ]);
  });
});
