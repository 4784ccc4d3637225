import { randomUUID } from 'node:crypto';
import { endApproval, listApprovedDestinations } from '../queries/changes/removal-brakes.ts';
import { beforeFirstMark, listApprovedAssociations } from '../queries/changes/source-marks.ts';
import { forEachDestination } from './each-destination.ts';
import { followAll } from './follow-all.ts';
import type { FollowContext } from './on-secret-change.ts';

const pageSize = 200;

/**
 * Removes what the operator or the reconciliation has approved, page by page. Each secret is read again: one that has come
 * back is followed instead. Safe in several processes; continues after a crash.
 */
export async function removeApproved(following: FollowContext, shouldStop: () => boolean): Promise<void> {
  const approved = await listApprovedDestinations(following.context.db);
  await forEachDestination(
    following,
    approved.map(({ id, approvedAt }) => [id, approvedAt] as const),
    (id, approvedAt) => removeApprovedOf(following, { id, approvedAt }, shouldStop),
  );
}

async function removeApprovedOf(
  following: FollowContext,
  { id, approvedAt }: { id: string; approvedAt: string },
  shouldStop: () => boolean,
): Promise<void> {
  const { db, secrets } = following.context;
  let after = beforeFirstMark;
  while (!shouldStop()) {
    const page = await listApprovedAssociations(db, id, approvedAt, { after, limit: pageSize });
    if (page.length === 0) {
      if (after === beforeFirstMark) await endApproval(db, id, approvedAt);
      return;
    }
    after = page.at(-1)!;
    const secretIds = [...new Set(page.map(({ secretId }) => secretId))];
    await followAll(following, await secrets.inspect(randomUUID(), secretIds));
  }
}
