import { hasCode, marksOf, type ReleaseRequest, tagsOf } from '@secrets/sync-worker';
import { parseRemembered } from './remembered.ts';
import { findSecret, type Store, tagsIn } from './store.ts';

/**
 * Removes the built-in tags from the secret that has them. Of one that is known and not shown yet, they are removed without a
 * look. One that is scheduled for deletion keeps them: it can be restored only by its destination, or by hand.
 */
export async function releaseSecret(store: Store, request: ReleaseRequest): Promise<void> {
  await store.account.require(store.signal);
  const known = parseRemembered(store, request);
  const found = await findSecret(store, request.externalName);
  const shown = found === undefined || found.DeletedDate ? {} : tagsIn(found);
  if (found) await untag(store, found.ARN, shown);
  if (known && found?.ARN !== known.arn) await untag(store, known.arn, tagsOf({}, store.owner));
}

async function untag(
  { api, owner, signal }: Store,
  arn: string,
  tags: Readonly<Record<string, string>>,
): Promise<void> {
  const marks = marksOf(owner, tags);
  if (marks.length === 0) return;
  try {
    await api.untag(arn, marks, signal);
  } catch (error) {
    if (!hasCode(error, 'ResourceNotFoundException', 'InvalidRequestException')) throw error;
  }
}
