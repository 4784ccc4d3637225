import { excessOf, Fault } from '@secrets/domain';

/** Far above the size of any page of a list. */
const budget = { depth: 32, values: 50_000 };

/**
 * Returns a body as the provider's client may parse it: whoever answers must not choose how long that takes. The body of an
 * error is dropped if it has too many levels or values, because its status still says what went wrong.
 * @throws `Fault` `unavailable` for the body of any other response that has too many
 */
export function withinBudget<Body extends Uint8Array>(status: number, body: Body): Body | undefined {
  const excess = excessOf(body, budget);
  if (excess === undefined) return body;
  if (status >= 400) return undefined;
  throw new Fault('unavailable', `the service sent a response that ${excess}`);
}
