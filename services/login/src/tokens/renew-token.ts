import { invalid, Problem } from '@secrets/domain';
import { whyNotRenewable } from '../cloudb/why-refused.ts';
import type { Context } from '../context.ts';
import { roleOfMount } from '../queries/cloudb.ts';
import { effectiveExpiry, renewTokenUntil, type StoredToken } from '../queries/tokens.ts';
import type { IssuedToken } from './present-auth.ts';
import { renewedExpiry, secondsLeft } from './token-lifetime.ts';

/** Moves a token's end by the increment asked for, else by its own TTL. A token of a login is held against its role again. */
export async function renewToken(
  context: Context,
  token: StoredToken,
  incrementSeconds: number | undefined,
): Promise<IssuedToken> {
  if (!token.renewable) throw invalid('the token is not renewable');
  await refuseLostLogin(context, token);
  const now = new Date();
  const expiresAt = renewedExpiry(token, incrementSeconds, now);
  if (!(await renewTokenUntil(context.db, token.accessor, expiresAt))) throw invalid('the token has ended');
  return {
    token: null,
    accessor: token.accessor,
    policies: token.policies,
    metadata: token.metadata,
    leaseSeconds: secondsLeft(effectiveExpiry({ ...token, expiresAt }), now),
    renewable: true,
    entityId: token.entityId,
    type: 'service',
    orphan: token.parentAccessor === null,
    uses: token.usesLeft,
  };
}

async function refuseLostLogin(context: Context, { mountId, loginSource }: StoredToken): Promise<void> {
  if (mountId === null || loginSource === null) return;
  const role = await roleOfMount(context.db, mountId, loginSource.role);
  const reason = whyNotRenewable(role, loginSource);
  if (reason !== undefined) throw new Problem('forbidden', reason);
}
