import type { JwtConfig } from '../config/config-settings.ts';
import type { JwtRole } from '../roles/role-fields.ts';

/** The audiences of which a token must have one. An ID token is for the client that the mount is at the provider. */
export const audiencesOf = (
  { oidc_client_id }: Pick<JwtConfig, 'oidc_client_id'>,
  { role_type, bound_audiences }: Pick<JwtRole, 'role_type' | 'bound_audiences'>,
): readonly string[] => (role_type === 'oidc' ? [oidc_client_id] : bound_audiences);
