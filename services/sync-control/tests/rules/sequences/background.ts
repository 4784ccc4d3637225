import { randomUUID } from 'node:crypto';
import type { Db } from '@secrets/db';
import type { SecretChangedMessage } from '@secrets/domain';
import { removeApproved } from '../../../src/changes/approved-removals.ts';
import { FreedNames } from '../../../src/changes/freed-names.ts';
import { type FollowContext, onSecretChange } from '../../../src/changes/on-secret-change.ts';
import { reconcile } from '../../../src/changes/reconcile.ts';
import { settleEvents } from '../../../src/changes/removal-brake.ts';
import { advanceDestinations } from '../../../src/destinations/background/advance-destinations.ts';
import { advanceReplan } from '../../../src/destinations/background/replan.ts';
import { advanceRules } from '../../../src/destinations/rules/background/advance-rules.ts';
import { retryRefusals } from '../../../src/destinations/rules/background/match-changed.ts';
import { Died, mortalDb } from './mortal-db.ts';
import type { Task } from './operations.ts';
import type { Outside } from './outside.ts';
import type { Stage } from './stage.ts';

const never = () => false;

/** Longer than a sequence takes, in seconds. */
const eraSeconds = 1_000_000;

/** The tasks of processes on a stage, and the messages between them. */
export class Background {
  readonly #stage: Stage;
  readonly #outside: Outside;
  /** Published messages that no process has acknowledged. */
  #messages: SecretChangedMessage[] = [];

  constructor(stage: Stage, outside: Outside) {
    this.#stage = stage;
    this.#outside = outside;
  }

  get isDelivered(): boolean {
    return this.#messages.length === 0;
  }

  /** Takes a task's steps until it has nothing to do, or its process dies. */
  async step(task: Task, diesAfter: number | null = null): Promise<void> {
    const alive = this.#stage.process();
    const following = diesAfter === null ? alive : this.#stage.process(mortalDb(alive.context.db, diesAfter));
    await this.#take(task, following).catch((error: unknown) => {
      if (!(error instanceof Died)) throw error;
    });
  }

  /** Ends a round of the reconciliation whose process has died. Until then, nothing that it may have marked is removed. */
  async endReconciliation(): Promise<void> {
    await reconcile(this.#stage.process(), eraSeconds, never);
  }

  async #take(task: Task, following: FollowContext): Promise<unknown> {
    const { context, log, brake } = following;
    const { db } = context;
    switch (task) {
      case 'relay':
        return this.#deliver(following);
      case 'rules':
        return advanceRules({ context, log }, never);
      case 'refusals':
        return retryRefusals({ context }, randomUUID());
      case 'removals':
        await settleEvents(db, brake, never);
        return removeApproved(following, never);
      case 'destinations':
        await advanceDestinations({ db, log, replan: (id) => advanceReplan(following, id) }, never);
        return new FreedNames(following).advance();
      case 'reconcile':
        return reconcile(following, 0, never);
      case 'work':
        return this.#outside.work(db);
    }
  }

  /** Publishes what is in the outbox, and delivers it, the newest message first. What is not acknowledged stays. */
  async #deliver(following: FollowContext): Promise<void> {
    this.#messages.push(...(await takeOutbox(this.#stage.db)));
    while (this.#messages.length > 0) {
      const message = this.#messages.pop()!;
      try {
        await onSecretChange(following, message, randomUUID());
      } catch (error) {
        this.#messages.unshift(message);
        throw error;
      }
    }
  }
}

const takeOutbox = (db: Db): Promise<SecretChangedMessage[]> =>
  db.query('delete from secrets.outbox returning secret_id, to_match');
