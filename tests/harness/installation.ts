import { type Api, client } from './http.ts';
import { type SandboxControl, sandboxControl } from './sandbox-control.ts';
import { type Standalone, startStandalone } from './standalone.ts';

/** A standalone service with its clients, for one test file. */
export interface Installation
  extends Pick<
    Standalone,
    'url' | 'sandboxUrl' | 'dataDir' | 'env' | 'residentMebibytes' | 'crash' | 'stop'
  > {
  rootToken: string;
  /** With the root token. */
  api: Api;
  /** With another token, or none. */
  as(token: string | undefined): Api;
  sandbox: SandboxControl;
}

/** @param env further variables of the service */
export async function startInstallation(env: NodeJS.ProcessEnv = {}): Promise<Installation> {
  const service = await startStandalone(undefined, env);
  return {
    ...service,
    api: client(service.url, service.rootToken),
    as: (token) => client(service.url, token),
    sandbox: sandboxControl(service.sandboxUrl),
  };
}
