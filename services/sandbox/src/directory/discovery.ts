import { issuerOf } from './issue-token.ts';

/**
 * A tenant's discovery document. It has the fields of the real one; its URLs point to the sandbox.
 * @param base the tenant's base URL, without a trailing slash
 */
export function discoveryDocument(base: string, tenantId: string, version: 1 | 2): object {
  const oauth = version === 1 ? `${base}/oauth2` : `${base}/oauth2/v2.0`;
  return {
    token_endpoint: `${oauth}/token`,
    token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
    jwks_uri: version === 1 ? `${base}/discovery/keys` : `${base}/discovery/v2.0/keys`,
    response_modes_supported: ['query', 'fragment', 'form_post'],
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: ['RS256'],
    response_types_supported: ['code', 'id_token', 'code id_token', 'id_token token'],
    scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
    issuer: issuerOf(tenantId, version),
    authorization_endpoint: `${oauth}/authorize`,
    claims_supported: [
      'sub',
      'iss',
      'cloud_instance_name',
      'aud',
      'exp',
      'iat',
      'auth_time',
      'nonce',
      'tid',
      'ver',
    ],
    tenant_region_scope: 'WW',
    cloud_instance_name: 'microsoftonline.com',
  };
}
