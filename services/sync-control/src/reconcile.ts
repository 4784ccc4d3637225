import { randomUUID } from 'node:crypto';
import { type Following, followSecret } from './on-secret-change.ts';
import { plannedRevisions } from './queries/associations.ts';

const pageSize = 200;
const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Looks once at every association, page by page, and follows each secret that stands otherwise than when the
 * association was planned: what an event should have told and did not. Gives how many were followed.
 */
export async function reconcile(following: Following, shouldStop: () => boolean): Promise<number> {
  const { context } = following;
  let followed = 0;
  let after = firstId;
  while (!shouldStop()) {
    const page = await plannedRevisions(context.db, after, pageSize);
    if (page.length === 0) break;
    after = page.at(-1)!.id;
    const planned = oldestPlans(page);
    for (const secret of await context.secrets.inspect(randomUUID(), [...planned.keys()])) {
      if (secret.exists && secret.revision === planned.get(secret.secret_id)) continue;
      await followSecret(following, secret);
      followed += 1;
    }
  }
  return followed;
}

/** Of several associations of one secret the one that was planned from the oldest revision counts. */
export function oldestPlans(
  page: readonly { secretId: string; plannedRevision: number }[],
): Map<string, number> {
  const oldest = new Map<string, number>();
  for (const { secretId, plannedRevision } of page) {
    oldest.set(secretId, Math.min(plannedRevision, oldest.get(secretId) ?? plannedRevision));
  }
  return oldest;
}
