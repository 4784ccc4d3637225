import type { AuthMethodDeps } from '../auth-method.ts';
import type { DirectoryKeys } from './directory/directory-keys.ts';
import type { LoginTargets } from './login/login-targets.ts';
import type { LookupLimit } from './login/lookup-limit.ts';
import type { MountClients } from './provider/mount-clients.ts';
import type { Providers } from './provider/provider.ts';

/** The dependencies of the endpoints of this method. */
export interface CloudBContext extends AuthMethodDeps {
  directory: DirectoryKeys;
  targets: LoginTargets;
  guesses: LookupLimit;
  clients: MountClients;
  /** The provider's API, for roles that bind where a principal runs. */
  providers: Providers;
}
