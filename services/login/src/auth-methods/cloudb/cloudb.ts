import { Problem } from '@secrets/domain';
import type { AuthMethod, AuthMethodDeps } from '../auth-method.ts';
import type { CloudBContext } from './cloudb-context.ts';
import { configEndpoints } from './config/config-endpoints.ts';
import { diagnosisEndpoint } from './diagnosis/diagnosis-endpoint.ts';
import { DirectoryKeys } from './directory/directory-keys.ts';
import { logIn } from './login/login.ts';
import { LoginRequest } from './login/login-request.ts';
import { loginTargets } from './login/login-targets.ts';
import { mayRenew } from './login/may-renew.ts';
import type { Providers } from './provider/provider.ts';
import { cloudBType } from './queries/login-target.ts';
import { roleEndpoints } from './roles/role-endpoints.ts';

export interface CloudBOptions {
  /** Base URL of the directory, for every mount. If absent, each mount's environment determines it. */
  authorityUrl?: string | undefined;
  /** Replaces the provider's API. */
  providers?: Providers | undefined;
}

/** Until the provider's API can be called. */
const noProviders: Providers = {
  of: () => {
    throw new Problem('unavailable', 'this version cannot look up machines');
  },
  forget: () => undefined,
};

/** Login with a JWT that cloudB's identity directory signed for a workload (docs/conventions.md#3-login-method-cloudb). */
export function createCloudB(
  deps: AuthMethodDeps,
  { authorityUrl, providers = noProviders }: CloudBOptions,
): AuthMethod {
  const context: CloudBContext = {
    ...deps,
    directory: new DirectoryKeys(authorityUrl),
    targets: loginTargets(deps.db),
    providers,
  };
  return {
    type: cloudBType,
    alternativeType: 'azure',
    loginBody: LoginRequest,
    login: (at, body: LoginRequest) => logIn(context, at, body),
    mayRenew: (login) => mayRenew(context.db, login),
    endpoints: [...roleEndpoints(context), ...configEndpoints(context), diagnosisEndpoint(context)],
  };
}
