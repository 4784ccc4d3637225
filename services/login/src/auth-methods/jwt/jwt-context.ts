import type { Sealed } from '@secrets/seal';
import type { AuthMethodDeps } from '../auth-method.ts';
import type { LoginTargets } from '../targets/login-targets.ts';
import type { LoginTarget } from '../targets/queries/stored-target.ts';
import type { JwtConfig } from './config/config-settings.ts';
import type { JwtKeys } from './keys/jwt-keys.ts';
import type { Providers } from './oidc/provider.ts';
import type { JwtRole } from './roles/role-fields.ts';

/** Everything stored that a login depends on. */
export type JwtTarget = LoginTarget<JwtConfig, JwtRole>;

/** A target that has everything. */
export type ReadyJwtTarget = JwtTarget & { config: JwtConfig; role: JwtRole; roleName: string };

/** The dependencies of the endpoints of this method. */
export interface JwtContext extends AuthMethodDeps {
  jwtKeys: JwtKeys;
  targets: LoginTargets<JwtTarget>;
  providers: Providers;
  /** The secret of a mount at the provider of its configuration (`readClientSecret`). */
  clientSecretOf(mountId: string, config: JwtConfig): Promise<Sealed<string> | undefined>;
}
