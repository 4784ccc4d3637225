import type { DirectoryClaims } from './claims.ts';
import type { ConfigSettings } from './config-settings.ts';
import type { NamedMachine } from './login-request.ts';
import type { RoleSettings } from './role-settings.ts';

/** What a login through a bound machine has proven, as it goes into the token's metadata. */
export type ProvenMachine = Record<string, string>;

/**
 * Asks the provider whether what a caller names is what its token proves, and whether a role's bounds on
 * subscription, group, location and scale set hold.
 */
export interface ProviderLookup {
  /**
   * Throws a problem: `forbidden` when the machine is not the caller's or a bound does not hold, `bad_gateway` or
   * `unavailable` when the provider does not answer as it should.
   */
  prove(login: {
    mountId: string;
    config: ConfigSettings;
    role: RoleSettings;
    machine: NamedMachine;
    claims: DirectoryClaims;
  }): Promise<ProvenMachine>;
}
