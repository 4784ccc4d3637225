import { randomUUID } from 'node:crypto';
import { beforeFirst, plannedRevisions } from '../queries/association-pages.ts';
import { type Following, followSecret } from './on-secret-change.ts';

const pageSize = 200;

/**
 * Checks every association once, page by page, and follows each secret that has changed since the association was
 * planned, in case the event was lost. Returns how many secrets were followed.
 */
export async function reconcile(following: Following, shouldStop: () => boolean): Promise<number> {
  const { context } = following;
  let followed = 0;
  let after = beforeFirst;
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

/** Returns the oldest planned revision of each secret: one secret may have several associations. */
export function oldestPlans(
  page: readonly { secretId: string; plannedRevision: number }[],
): Map<string, number> {
  const oldest = new Map<string, number>();
  for (const { secretId, plannedRevision } of page) {
    oldest.set(secretId, Math.min(plannedRevision, oldest.get(secretId) ?? plannedRevision));
  }
  return oldest;
}
