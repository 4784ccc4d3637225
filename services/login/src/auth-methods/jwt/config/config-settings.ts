import { invalid, secretSetting, setting, storedSettings, withoutNul } from '@secrets/domain';
import { flag, stringList } from '@secrets/http';
import { z } from 'zod';
import { certificates, publicKeys, trustedUrl } from '../../verification/keys/key-fields.ts';

const text = (max: number) => z.string().trim().max(max).meta(withoutNul);

/** The algorithms of signatures that can be accepted. None uses a shared secret. */
export const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;

const supported = stringList
  .refine((list) => list.every((name) => (algorithms as readonly string[]).includes(name)), {
    error: `must be among ${algorithms.join(', ')}`,
  })
  .meta({ type: 'array', items: { type: 'string', enum: [...algorithms] } });

const responseTypes = stringList
  .refine((list) => list.every((type) => type === 'code'), {
    error: 'must be code: tokens do not pass through the browser',
  })
  .meta({ type: 'array', maxItems: 1, items: { type: 'string', enum: ['code'] } });

/** Settings of providers that the original method treats in ways of their own. None is needed here. */
const providerConfig = z
  .record(z.string(), z.unknown(), { error: 'must be an empty map' })
  .refine((map) => Object.keys(map).length === 0, {
    error:
      'must be empty: no provider has settings of its own. Let it send the groups of a user in a claim, and name that in groups_claim of the role',
  })
  .transform((): Record<string, never> => ({}))
  .meta({ type: 'object', maxProperties: 0 });

/** The fields of a configuration (docs/conventions/jwt.md#configuration). */
export const jwtConfigFields = storedSettings({
  oidc_discovery_url: setting(trustedUrl, {
    default: '',
    help: 'the issuer, whose discovery document says where its keys are',
  }),
  oidc_discovery_ca_pem: setting(certificates, {
    default: '',
    help: 'certificates that are trusted for it in place of those of the system',
  }),
  jwks_url: setting(trustedUrl, { default: '', help: 'the location of the key set' }),
  jwks_ca_pem: setting(certificates, {
    default: '',
    help: 'certificates that are trusted for it in place of those of the system',
  }),
  jwt_validation_pubkeys: setting(publicKeys, { default: [], help: 'public keys in PEM' }),
  bound_issuer: setting(text(2_048), { default: '', help: 'what `iss` must be' }),
  jwt_supported_algs: setting(supported, {
    default: [],
    help: 'algorithms of signatures; by default, all that exist here',
  }),
  oidc_client_id: setting(text(1_024), {
    default: '',
    help: 'the client that this mount is at the provider, for [sign-in with a browser](../conventions/oidc.md)',
  }),
  oidc_client_secret: secretSetting(z.string().max(4_096), {
    help: 'the secret of that client, if it has one; never shown',
  }),
  oidc_response_mode: setting(
    z.enum(['', 'query'], { error: 'must be query: the provider sends the browser back with a URL' }),
    { default: '', help: '`query`, which is how the provider always sends the code' },
  ),
  oidc_response_types: setting(responseTypes, {
    default: [],
    help: '`code`, which is always what the provider is asked for',
  }),
  provider_config: setting(providerConfig, { default: {}, help: 'an empty map' }),
  default_role: setting(text(256), { default: '', help: 'the role of logins that name none' }),
});

/** A mount's configuration as it is stored. */
export type JwtConfig = ReturnType<typeof jwtConfigFields.read>;

/** The body of `auth/<mount>/config`. It replaces the whole configuration, as in Vault. */
export const JwtConfigBody = jwtConfigFields.body.extend({ skip_jwks_validation: flag.optional() });
export type JwtConfigBody = z.infer<typeof JwtConfigBody>;

const object = 'the configuration of this auth mount';

/** A configuration in a row. Throws what `readStored` throws. */
export const readJwtConfig = (row: object): JwtConfig => jwtConfigFields.read(row, object);

/** The configuration that a request describes. Throws `invalid` if it does not name exactly one source of keys. */
export function configOf({ skip_jwks_validation: _, ...body }: JwtConfigBody): JwtConfig {
  const config = jwtConfigFields.merged(undefined, body, object);
  const { oidc_discovery_url, jwks_url, jwt_validation_pubkeys } = config;
  if (
    [oidc_discovery_url !== '', jwks_url !== '', jwt_validation_pubkeys.length > 0].filter(Boolean).length !==
    1
  )
    throw invalid('exactly one of jwt_validation_pubkeys, jwks_url or oidc_discovery_url must be set');
  if (config.oidc_client_id !== '' && oidc_discovery_url === '')
    throw invalid('oidc_client_id: needs oidc_discovery_url');
  if (body.oidc_client_secret && config.oidc_client_id === '')
    throw invalid('oidc_client_secret: needs oidc_client_id');
  if (config.oidc_discovery_ca_pem !== '' && oidc_discovery_url === '')
    throw invalid('oidc_discovery_ca_pem: needs oidc_discovery_url');
  if (config.jwks_ca_pem !== '' && jwks_url === '') throw invalid('jwks_ca_pem: needs jwks_url');
  return config;
}

/** The issuer that tokens must have; undefined if any will do, because the keys alone decide. */
export const issuerOf = ({ bound_issuer, oidc_discovery_url }: JwtConfig): string | undefined =>
  bound_issuer || oidc_discovery_url || undefined;
