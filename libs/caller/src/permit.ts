import { requireSignedBody, signAssertion, verifyAssertion } from './assertion.ts';
import type { Caller } from './caller.ts';
import type { InternalKeys } from './internal-keys.ts';

/** Who permits what, and which service decides by it. */
interface PermitParties {
  from: string;
  to: string;
}

/** No request has this method, so a permit is no assertion of one. */
const permitted = { method: 'PERMIT', path: '/' };

/** Signs for 30 seconds that a service permits what a text says, on behalf of a caller. Whoever has both may pass them on. */
export const signPermit = (
  keys: InternalKeys,
  parties: PermitParties,
  caller: Caller,
  text: string,
): string => signAssertion(keys, { ...parties, ...permitted, body: text }, caller);

/**
 * Returns the caller for whom a text was permitted.
 * @throws a problem (`forbidden`) if the permit is forged, expired, or of another text
 */
export function verifyPermit(
  keys: InternalKeys,
  parties: PermitParties,
  permit: string,
  text: string,
): Caller {
  const verified = verifyAssertion(keys, permit, { ...parties, ...permitted });
  requireSignedBody(verified, text);
  return verified.caller;
}
