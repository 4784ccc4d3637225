import { guardedDocuments } from '@secrets/egress';
import type { AuthMethod, AuthMethodDeps } from '../auth-method.ts';
import { diagnosisEndpoint } from '../diagnosis/diagnosis-endpoint.ts';
import { cachedTargets } from '../targets/login-targets.ts';
import { TrustingFetches } from '../verification/http/trusting-fetches.ts';
import { readClientSecret } from './config/client-secret.ts';
import { configEndpoints } from './config/config-endpoints.ts';
import { diagnoseJwt } from './diagnosis/diagnose-jwt.ts';
import type { JwtContext } from './jwt-context.ts';
import { findJwtTarget, jwtTables } from './jwt-tables.ts';
import { JwtKeys } from './keys/jwt-keys.ts';
import { logInWithJwt } from './login/login.ts';
import { JwtLoginRequest } from './login/login-request.ts';
import { mayRenewJwt } from './login/may-renew.ts';
import { sweepUsedJwts } from './login/sweep-used-jwts.ts';
import { oidcEndpoints } from './oidc/oidc-endpoints.ts';
import { Providers } from './oidc/provider.ts';
import { jwtRoleEndpoints } from './roles/role-endpoints.ts';

export interface JwtOptions {
  /** Addresses that keys may be fetched from, besides public ones: CIDRs with an optional port. */
  egressAllow?: readonly string[] | undefined;
}

/** Login with a JWT of any issuer that a mount trusts (docs/conventions/jwt.md). */
export function createJwt(deps: AuthMethodDeps, { egressAllow = [] }: JwtOptions): AuthMethod {
  const fetches = new TrustingFetches(guardedDocuments({ allow: egressAllow }));
  const context: JwtContext = {
    ...deps,
    jwtKeys: new JwtKeys(fetches),
    providers: new Providers(fetches),
    clientSecretOf: (mountId, config) => readClientSecret(deps, mountId, config),
    targets: cachedTargets(deps, (...of) => findJwtTarget(deps, ...of)),
  };
  return {
    type: jwtTables.type,
    alternativeType: 'oidc',
    loginBody: JwtLoginRequest,
    login: (at, body: JwtLoginRequest) => logInWithJwt(context, at, body),
    mayRenew: (login) => mayRenewJwt(context, login),
    endpoints: [
      ...jwtRoleEndpoints(context),
      ...configEndpoints(context),
      ...oidcEndpoints(context),
      diagnosisEndpoint(JwtLoginRequest, async (at, request) => {
        const target = await context.targets(at, request.role ?? '');
        return target && diagnoseJwt(context, target, request);
      }),
    ],
    tasks: [
      {
        name: 'sweep of used JWTs',
        seconds: 60,
        run: (isStopping) => sweepUsedJwts(context.db, isStopping),
      },
    ],
  };
}
