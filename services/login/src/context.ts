import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { AuthMethods } from './auth-methods/registry.ts';
import type { TokenContext } from './tokens/issue-token.ts';

/** The dependencies of the endpoints of this service. */
export interface Context extends TokenContext {
  keyRing: KeyRing;
  log: Logger;
  methods: AuthMethods;
}
