import { excessOf, invalid, type JsonBudget, secretBudget } from '@secrets/domain';

/** Limits of request bodies by purpose (docs/conventions/http.md#bodies). */
export const bodyBudgets = {
  /** A request without a token. */
  open: { depth: 4, values: 256 },
  ordinary: { depth: 32, values: 1_000 },
  /** Contains the value of a secret, or any JSON. */
  secret: { depth: secretBudget.depth + 1, values: secretBudget.values + 10 },
  /** A request of another service. */
  internal: { depth: 32, values: 100_000 },
} as const satisfies Record<string, JsonBudget>;

/**
 * Throws a problem (`invalid`) if a body exceeds a budget. Called before it is parsed, because that is what would take the
 * time.
 */
export function requireWithin(budget: JsonBudget, body: Uint8Array | undefined): void {
  const excess = body === undefined ? undefined : excessOf(body, budget);
  if (excess !== undefined) throw invalid(`the body ${excess}`);
}
