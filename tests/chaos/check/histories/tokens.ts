import { type Operation, ofKind } from '../../load/operation.ts';

/**
 * Returns each request that a gateway accepted although it was sent after the revocation of its token was acknowledged
 * (docs/conventions/access.md#tokens: a revocation applies to every request that arrives after it was committed).
 */
export function checkTokens(history: readonly Operation[]): string[] {
  const revokedAt = new Map<string, number>();
  for (const { token, outcome, endedAt } of ofKind(history, 'revoke'))
    if (outcome === 'ok') revokedAt.set(token, Math.min(endedAt, revokedAt.get(token) ?? Infinity));
  return ofKind(history, 'read')
    .filter(
      ({ outcome, token, invokedAt }) => outcome === 'ok' && invokedAt > (revokedAt.get(token) ?? Infinity),
    )
    .map(
      ({ gateway, token, invokedAt }) =>
        `${gateway} accepted a token ${Math.round(invokedAt - revokedAt.get(token)!)} ms after its revocation was acknowledged`,
    );
}
