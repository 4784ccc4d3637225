import { expectStatus, nameOf, pathOf } from './destinations.ts';
import { Model } from './model.ts';
import type { RuleRequest, Settings } from './operations.ts';
import type { Owners } from './owners.ts';
import { seeAssociations, seeSecrets } from './seen.ts';
import type { Stage } from './stage.ts';
import { heldBy } from './why-wrong.ts';

/** The rules of a sequence. */
export class Rules {
  readonly #stage: Stage;
  readonly #model: Model;
  readonly #owners: Owners;

  constructor(stage: Stage, model: Model, owners: Owners) {
    this.#stage = stage;
    this.#model = model;
    this.#owners = owners;
  }

  request(request: RuleRequest): Promise<void> {
    return request.act === 'end' ? this.#end(request) : this.#write(request);
  }

  async #write(request: Exclude<RuleRequest, { act: 'end' }>): Promise<void> {
    const { act, owner, settings } = request;
    const { destination, name, path } = refOf(request);
    const method = act === 'rule' ? 'POST' : 'PATCH';
    const response = await this.#stage.control(method, path, settings, this.#owners.caller(owner));
    if (response.status !== 200) return expectStatus(response, 400, 404, 409);
    const key = Model.key(destination, name);
    const before = this.#model.rules.get(key);
    const [stored] = await this.#stage.db.query<{ mountId: string }>(
      `select mount_id as "mountId" from sync.rules r join sync.destinations d on d.id = r.destination_id
        where d.name = $1 and r.name = $2`,
      [destination, name],
    );
    this.#model.rules.set(key, {
      ...{ destination, name, owner, mountId: stored!.mountId },
      settings: act === 'rule' ? settings : patched(before!.settings, settings),
      possible: before?.possible ?? new Set(),
      kept: before?.kept ?? new Set(),
    });
  }

  async #end(request: Extract<RuleRequest, { act: 'end' }>): Promise<void> {
    const { destination, name, path } = refOf(request);
    const key = Model.key(destination, name);
    const response = await this.#stage.control('DELETE', `${path}?keep=${request.keep}`);
    if (!this.#model.rules.delete(key)) return;
    expectStatus(response, 200, 204);
    if (request.keep) await this.#keepByHand(destination, name);
  }

  /** Notes that the associations of a rule are going to be held by hand, except those of secrets that are gone. */
  async #keepByHand(destination: string, name: string): Promise<void> {
    const secrets = new Set((await seeSecrets(this.#stage.db)).map(({ id }) => id));
    const associations = (await seeAssociations(this.#stage.db)).filter(({ removing }) => !removing);
    const held = [...heldBy(associations, { destination, name })].filter((id) => secrets.has(id));
    const keeping = new Set(held.map((id) => `${destination} ${id}`));
    this.#model.keeping.set(Model.key(destination, name), keeping);
    for (const one of keeping) this.#model.byHand.add(one);
  }
}

function refOf({ destination: number, rule }: RuleRequest) {
  const destination = nameOf(number);
  const name = `r${rule}`;
  return { destination, name, path: `${pathOf(destination)}/rules/${name}` };
}

/** A merge patch: keys of the metadata that are not named stay. */
const patched = (before: Settings, patch: Partial<Settings>): Settings => ({
  ...before,
  ...patch,
  metadata_match: { ...before.metadata_match, ...patch.metadata_match },
});
