import { randomUUID } from 'node:crypto';
import { listAwaitingNames } from '@secrets/sync-entries';
import { beforeFirst } from '../queries/associations/association-pages.ts';
import { followAll } from './follow-all.ts';
import type { FollowContext } from './on-secret-change.ts';

/** The secrets service decrypts these. */
const pageSize = 20;

/**
 * Follows secrets again whose keys wait for a name, once the entry that had the name is gone. Polls one page of the waiting
 * associations at a time, so that nothing has to report a free name.
 */
export class FreedNames {
  readonly #following: FollowContext;
  #after = beforeFirst;

  constructor(following: FollowContext) {
    this.#following = following;
  }

  async advance(): Promise<void> {
    const { db, secrets } = this.#following.context;
    const page = await listAwaitingNames(db, { after: this.#after, limit: pageSize });
    this.#after = page.length === pageSize ? page.at(-1)!.id : beforeFirst;
    const freed = page.filter(({ isFree }) => isFree).map(({ secretId }) => secretId);
    if (freed.length === 0) return;
    await followAll(this.#following, await secrets.inspect(randomUUID(), [...new Set(freed)]));
  }
}
