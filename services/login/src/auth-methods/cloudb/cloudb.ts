import type { AuthMethod, AuthMethodDeps } from '../auth-method.ts';
import { diagnosisEndpoint } from '../diagnosis/diagnosis-endpoint.ts';
import type { CloudBContext } from './cloudb-context.ts';
import { configEndpoints } from './config/config-endpoints.ts';
import { diagnose } from './diagnosis/diagnose.ts';
import { DirectoryKeys } from './directory/directory-keys.ts';
import { logIn } from './login/login.ts';
import { LoginRequest } from './login/login-request.ts';
import { loginTargets } from './login/login-targets.ts';
import { LookupLimit } from './login/lookup-limit.ts';
import { mayRenew } from './login/may-renew.ts';
import type { ProviderUrls } from './provider/clouds.ts';
import type { EnvironmentCredentials } from './provider/credentials/credential-source.ts';
import { MountClients } from './provider/mount-clients.ts';
import { createProviders } from './provider/providers.ts';
import { cloudBType } from './queries/login-target.ts';
import { roleEndpoints } from './roles/role-endpoints.ts';
import { runDueRotations } from './rotation/run-rotation.ts';

/** Base URLs, for every mount. If one is absent, each mount's environment determines it. */
export interface CloudBOptions extends ProviderUrls {
  /** The credentials of the environment, used by mounts that store none. */
  credentials?: EnvironmentCredentials | undefined;
  /** Whether requests to the provider are logged, with tokens and secrets masked. */
  logsRequests?: boolean | undefined;
}

/** Login with a JWT that cloudB's identity directory signed for a workload (docs/conventions/cloudb.md). */
export function createCloudB(deps: AuthMethodDeps, options: CloudBOptions): AuthMethod {
  const clients = new MountClients({
    ...deps,
    urls: options,
    environment: options.credentials ?? {},
    debugLog: options.logsRequests ? deps.log.child({}, { level: 'debug' }) : undefined,
  });
  const context: CloudBContext = {
    ...deps,
    directory: new DirectoryKeys(options.authorityUrl),
    targets: loginTargets(deps),
    guesses: new LookupLimit(),
    clients,
    providers: createProviders(clients),
  };
  return {
    type: cloudBType,
    alternativeType: 'azure',
    loginBody: LoginRequest,
    login: (at, body: LoginRequest) => logIn(context, at, body),
    mayRenew: (login) => mayRenew(context, login),
    endpoints: [
      ...roleEndpoints(context),
      ...configEndpoints(context),
      diagnosisEndpoint(LoginRequest, async (at, request) => {
        const target = await context.targets(at, request.role);
        return target && diagnose(context, target, request);
      }),
    ],
    tasks: [
      {
        name: 'rotation of client secrets',
        seconds: 30,
        run: (isStopping) => runDueRotations(context, isStopping),
      },
    ],
  };
}
