import { setTimeout as sleep } from 'node:timers/promises';
import { Background } from './background.ts';
import { Destinations, expectStatus, pathOf } from './destinations.ts';
import { Model } from './model.ts';
import { mounts, type Operation, ownerCount, type Request, tasks } from './operations.ts';
import { Outside } from './outside.ts';
import { Owners } from './owners.ts';
import { Rules } from './rules.ts';
import { requestOfSecrets } from './secrets.ts';
import { letTimePass, seeAssociations, seeRules, seeSecrets, stateAtRest } from './seen.ts';
import type { Stage } from './stage.ts';
import { heldBy, whyWrong } from './why-wrong.ts';

/** The time in which a sequence must come to rest. A transaction of another test on the server delays the runs of rules. */
const restMs = 120_000;

/** A sequence of operations on a stage, which has nothing of another one. */
export class Play {
  readonly #stage: Stage;
  readonly #model = new Model(ownerCount);
  readonly #outside = new Outside();
  readonly #background: Background;
  readonly #owners: Owners;
  readonly #destinations: Destinations;
  readonly #rules: Rules;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#background = new Background(stage, this.#outside);
    this.#owners = new Owners(stage.db, this.#model);
    this.#destinations = new Destinations(stage, this.#model);
    this.#rules = new Rules(stage, this.#model, this.#owners);
  }

  /** Plays the operations, and throws if what the service then has is not what the holders ask for. */
  async run(operations: readonly Operation[]): Promise<void> {
    await this.#stage.reset();
    await this.#owners.create();
    for (const mount of mounts.slice(0, 2)) await this.#request({ act: 'mount', mount });
    await this.#destinations.create();
    for (const operation of [...operations, { act: 'settle' as const }]) {
      await this.#perform(operation);
      await this.#observe();
    }
  }

  async #observe(): Promise<void> {
    this.#model.observe(await seeSecrets(this.#stage.db));
  }

  async #perform(operation: Operation): Promise<unknown> {
    switch (operation.act) {
      case 'task':
        return this.#background.step(operation.task, operation.diesAfter);
      case 'together': {
        const steps = operation.tasks.map(({ task, diesAfter }) => this.#background.step(task, diesAfter));
        return Promise.all([...steps, operation.request && this.#request(operation.request)]);
      }
      case 'time':
        return letTimePass(this.#stage.db);
      case 'settle':
        return this.#settle();
      default:
        return this.#request(operation);
    }
  }

  #request(request: Request): Promise<void> {
    switch (request.act) {
      case 'rights':
      case 'disable':
      case 'enable':
        return this.#owners.request(request);
      case 'rule':
      case 'patch':
      case 'end':
        return this.#rules.request(request);
      case 'set':
      case 'remove':
      case 'purge':
      case 'create':
      case 'replan':
      case 'syncing':
      case 'queue':
        return this.#destinations.request(request);
      default:
        return requestOfSecrets(this.#stage, request);
    }
  }

  /** Ends what disturbs, lets everything come to rest, and checks it. */
  async #settle(): Promise<void> {
    await this.#request({ act: 'syncing', disabled: false });
    await this.#request({ act: 'queue', capacity: null });
    await this.#observe();
    const deadline = Date.now() + restMs;
    for (let before: string | undefined; ; ) {
      const state = await this.#stateAfterRound();
      if (state !== undefined && state === before) break;
      before = state;
      if (Date.now() > deadline) throw new Error('it does not come to rest');
      if (state === undefined) await sleep(2);
    }
    await this.#check();
  }

  /** Takes each task's steps once. What a new round of the reconciliation would repair must not need it. */
  async #stateAfterRound(): Promise<string | undefined> {
    const { db } = this.#stage;
    await letTimePass(db);
    for (const task of tasks) if (task !== 'reconcile') await this.#background.step(task);
    await this.#background.endReconciliation();
    await this.#confirmRemovals();
    return this.#background.isDelivered ? stateAtRest(db) : undefined;
  }

  async #check(): Promise<void> {
    const { db } = this.#stage;
    const [secrets, associations] = [await seeSecrets(db), await seeAssociations(db)];
    const rules = await seeRules(db);
    const externalName = this.#destinations.externalName.bind(this.#destinations);
    const seen = { secrets, associations, rules, outside: this.#outside.held, externalName };
    const why = whyWrong(this.#model, seen);
    if (why !== undefined) throw new Error(why);
    this.#model.rest((rule) => heldBy(associations, rule));
  }

  async #confirmRemovals(): Promise<void> {
    const held = await this.#stage.db.query<{ name: string }>(
      'select d.name from sync.removal_brakes b join sync.destinations d on d.id = b.destination_id where b.held_at is not null',
    );
    for (const { name } of held)
      expectStatus(await this.#stage.control('POST', `${pathOf(name)}/confirm-removals`), 200, 204);
  }
}
