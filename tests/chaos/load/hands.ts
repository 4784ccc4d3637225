import { openPostgres } from '../../../libs/db/src/index.ts';
import { afterAction, type Changed, type HandAction } from '../check/by-hand.ts';
import { type Draw, gatewayOf, type LoadClient, type Shared } from './clients.ts';
import { mount, type TouchedDestination, touchedKeys } from './world.ts';

/** An external secret that only the service writes, once in the beginning, and these hands. */
interface Target {
  destination: TouchedDestination;
  key: string;
  /** Its name in the store. */
  name: string;
  /** Its value, as it was pushed. */
  pushed: string;
}

const actions: readonly HandAction[] = ['edit', 'edit', 'delete', 'recreate'];

/** A store may show times in seconds: what is changed right after a push looks like the push. */
const afterPushMs = 3_000;

/** The apparent age of the last pushes then, so that looks believe what they read. */
const ago = `interval '10 minutes'`;

/** Edits, deletes and recreates external secrets beside the service, and has it look at some of them. */
export class Hands implements LoadClient {
  readonly name = 'hands';
  readonly pauseMs = 700;
  readonly #shared: Shared;
  readonly #databaseUrl: string;
  #targets: readonly Target[] = [];
  #readyAt = Number.POSITIVE_INFINITY;
  #changes = 0;
  /** The external secrets that were changed since they were pushed, as they were left, by `externalId`. */
  #changed = new Map<string, Changed>();

  constructor(shared: Shared, databaseUrl: string) {
    this.#shared = shared;
    this.#databaseUrl = databaseUrl;
  }

  async turn(draw: Draw): Promise<void> {
    if (this.#targets.length === 0) await this.#prepare().catch(() => undefined); // because of a fault
    if (performance.now() < this.#readyAt) return;
    const target = this.#targets[draw(this.#targets.length)]!;
    await this.#change(target, actions[draw(actions.length)]!);
    if (draw(3) === 0) await this.#look(target, draw);
  }

  /** Returns what was changed, and begins again once everything is as the service wants it. */
  takeChanges(): ReadonlyMap<string, Changed> {
    const changed = this.#changed;
    this.#changed = new Map();
    this.#targets = [];
    this.#readyAt = Number.POSITIVE_INFINITY;
    return changed;
  }

  /** Finds the external secrets, unless some are yet to be pushed. */
  async #prepare(): Promise<void> {
    const { api, sandbox, touched } = this.#shared.world;
    const targets: Target[] = [];
    for (const destination of touched) {
      const contents = await sandbox.contents(destination.type);
      const { body } = await api('GET', `${destination.path}/associations`);
      for (const one of Object.values<Record<string, string>>(body.data.associated_secrets)) {
        const [key, name] = [one.secret_name!, one.external_name!];
        const [, pushed] = Object.entries(contents).find(([shown]) => isSameName(shown, name)) ?? [];
        if (one.sync_status === 'SYNCED' && pushed !== undefined)
          targets.push({ destination, key, name, pushed });
      }
    }
    if (targets.length < touched.length * touchedKeys.length) return;
    await this.#letTimePass();
    this.#targets = targets;
    this.#readyAt = performance.now() + afterPushMs;
  }

  async #letTimePass(): Promise<void> {
    const db = openPostgres({ url: this.#databaseUrl, connections: 1 });
    try {
      await db.query(
        `update sync.entries e set synced_at = synced_at - ${ago} from sync.destinations d
          where d.id = e.destination_id and d.name = any($1) and e.status = 'SYNCED'`,
        [this.#shared.world.touched.map(({ name }) => name)],
      );
    } finally {
      await db.close();
    }
  }

  async #change(target: Target, action: HandAction): Promise<void> {
    const { name, pushed } = target;
    const { type, policy } = target.destination;
    const id = externalId(type, name);
    const before = this.#changed.get(id)?.left;
    if (before?.drift === 'missing') return; // somebody else would have to create it
    if (before !== undefined && policy === 'repair') return; // it is contested if a repair is undone twice
    const value = `theirs-${this.#changes++}`;
    const { sandbox } = this.#shared.world;
    const isChanged = await sandbox.changeByHand(type, name, action, value).then(
      () => true,
      () => false, // the sandbox of an older revision has no hands
    );
    if (isChanged) this.#changed.set(id, { policy, pushed, left: afterAction(before, action, value) });
  }

  #look({ destination: { id, path }, key }: Target, draw: Draw): Promise<unknown> {
    const { world, recorder } = this.#shared;
    const from = { client: this.name, gateway: gatewayOf(world, draw), token: world.rootToken };
    const sent = { method: 'POST', path: `${path}/inspect`, body: { mount, secret_name: key } };
    return recorder.run({ act: 'inspect', destination: id }, { ...from, ...sent });
  }
}

const isSameName = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Identifies an external secret, whose name a store may show in another case. */
export const externalId = (store: string, name: string): string => `${store} ${name.toLowerCase()}`;
