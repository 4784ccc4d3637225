import { logFailure } from '@secrets/telemetry';
import { type FollowContext, followSecret } from './on-secret-change.ts';
import type { InspectedSecret } from './secrets-client.ts';

/**
 * Follows each of these secrets, whose changes the reconciliation has found. One that fails is logged and counted, does
 * not hold up the others, and is followed again in the next round. Returns how many were followed.
 */
export async function followAll(
  following: FollowContext,
  secrets: readonly InspectedSecret[],
): Promise<number> {
  let followed = 0;
  for (const secret of secrets) {
    try {
      await followSecret(following, secret, 'background');
      followed += 1;
    } catch (error) {
      following.failures?.inc();
      const fields = { error, secretId: secret.secret_id };
      logFailure(following.log, fields, 'a secret could not be followed', 'error');
    }
  }
  return followed;
}
