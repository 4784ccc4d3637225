import type { FederatedCredentials } from '../../../federation/federated-credential.ts';
import type { Call, CallContext } from '../../../simulation/serve-call.ts';
import type { AccessKeys } from '../credentials/access-keys.ts';
import type { Role } from '../credentials/assume-role.ts';
import type { Authorization, SignedRequest } from '../credentials/request-signature.ts';
import type { OperationLimits } from '../operations/operation.ts';
import type { RegionStores } from '../store/region-stores.ts';

/** The state of the simulated cloud that its endpoints use. */
export interface CloudAContext {
  calls: Omit<CallContext, 'errors'>;
  keys: AccessKeys;
  regions: RegionStores;
  limits: OperationLimits;
  sts: {
    roles: readonly Role[];
    /** The length of every session; undefined leaves it to the caller. */
    sessionSeconds: number | undefined;
    /** The identities that may assume a role. */
    federation: FederatedCredentials;
  };
}

/** A request, with the unverified content of its `Authorization` header. */
export interface IncomingCall {
  request: SignedRequest;
  authorization: Authorization | undefined;
}

/** Returns the properties of a call that are logged and that faults match. */
export function loggedFields(
  { authorization }: IncomingCall,
  { operation, input, name }: { operation: string; input: object; name: string | undefined },
): Call {
  const sent = Object.keys(input).slice(0, 32);
  return { operation, name, region: authorization?.region, caller: authorization?.accessKeyId, sent };
}
