import { createApi } from '../api/client.ts';
import type { SignedIn } from './session.ts';

/**
 * Revokes the token of a user who signs out, if it was issued for this session. A pasted token belongs to whoever created it.
 * Returns a sentence for the user.
 */
export async function endSession(user: SignedIn): Promise<{ notice: string; namespace: string }> {
  const { namespace } = user;
  if (!user.isIssued)
    return { notice: 'You have signed out. The token that you entered is still valid.', namespace };
  const isRevoked = await createApi(user)
    .POST('/v1/auth/token/revoke-self', {})
    .then(
      () => true,
      () => false,
    );
  const ofToken = isRevoked
    ? 'You have signed out, and your token is revoked.'
    : 'You have signed out here, but your token could not be revoked. It stays valid until it expires.';
  const { provider } = user;
  const ofProvider =
    provider === undefined
      ? ''
      : ` Your session at ${provider.label} remains: on a shared computer, sign out there, too.`;
  return { notice: ofToken + ofProvider, namespace };
}
