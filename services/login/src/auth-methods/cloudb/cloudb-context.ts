import type { AuthMethodDeps } from '../auth-method.ts';
import type { DirectoryKeys } from './directory/directory-keys.ts';
import type { Guesses } from './login/guesses.ts';
import type { LoginTargets } from './login/login-targets.ts';
import type { MountClients } from './provider/mount-clients.ts';
import type { Providers } from './provider/provider.ts';

/** What the endpoints of this method use. */
export interface CloudBContext extends AuthMethodDeps {
  directory: DirectoryKeys;
  targets: LoginTargets;
  guesses: Guesses;
  clients: MountClients;
  /** The provider's API, for roles that bind where a principal runs. */
  providers: Providers;
}
