import type { TestResponse } from '@secrets/http/testing';
import { expectStatus, nameOf, pathOf } from './destinations.ts';
import { Model } from './model.ts';
import type { RuleRequest, Settings } from './operations.ts';
import type { Owners } from './owners.ts';
import { type SeenAssociation, seeAssociations, seeSecrets } from './seen.ts';
import type { Stage } from './stage.ts';
import { heldBy } from './why-wrong.ts';

type RuleWrite = Exclude<RuleRequest, { act: 'end' }>;

/** A plan may be out of date by the time of the write. */
const maxTries = 4;

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

  async #write(request: RuleWrite): Promise<void> {
    const { act, owner, settings } = request;
    const { destination, name } = refOf(request);
    const response = await this.#confirmed(request);
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

  /** Writes a rule, with the fingerprint of its plan if that is needed, and again if something has changed since the plan. */
  async #confirmed(request: RuleWrite): Promise<TestResponse> {
    const { path } = refOf(request);
    const caller = this.#owners.caller(request.owner);
    const method = request.act === 'rule' ? 'POST' : 'PATCH';
    let confirm: object = {};
    for (let tries = 1; ; tries += 1) {
      const body = { ...request.settings, ...confirm };
      const response = await this.#stage.control(method, path, body, caller);
      if (response.status !== 409 || tries === maxTries || !/confirm: /.test(response.body.errors[0]))
        return response;
      const planned = await this.#stage.control('POST', `${path}/plan`, await this.#result(request), caller);
      if (planned.status !== 200) return planned;
      confirm = { confirm: planned.body.data.fingerprint };
    }
  }

  /** All fields that a rule has after a write. */
  async #result({ act, settings, ...rule }: RuleWrite): Promise<object> {
    if (act === 'rule') return settings;
    const { body } = await this.#stage.control('GET', refOf(rule).path);
    const { mount, path, exclude, metadata_match } = body.data;
    return patched({ mount, path, exclude, metadata_match }, settings);
  }

  /** The last deletion of a rule decides whether what it still holds is kept. */
  async #end(request: Extract<RuleRequest, { act: 'end' }>): Promise<void> {
    const { destination, name, path } = refOf(request);
    const key = Model.key(destination, name);
    const before = heldBy(await this.#associations(), { destination, name });
    const { status } = await this.#stage.control('DELETE', `${path}?keep=${request.keep}`);
    if (status >= 300) return;
    this.#model.rules.delete(key);
    const after = await this.#associations();
    const held = request.keep ? heldBy(after, { destination, name }) : new Set();
    const isKept = ({ byHand, secretId }: SeenAssociation) =>
      held.has(secretId) ||
      (byHand &&
        !this.#model.byHand.has(`${destination} ${secretId}`) &&
        (before.has(secretId) || this.#isKeeping(key, secretId)));
    const kept = after.filter((one) => one.destination === destination && isKept(one));
    this.#model.keeping.set(key, new Set(kept.map(({ secretId }) => `${destination} ${secretId}`)));
  }

  /** Whether an earlier deletion of a rule keeps an association. */
  #isKeeping(rule: string, secretId: string): boolean {
    const [destination] = rule.split(' ');
    return this.#model.keeping.get(rule)?.has(`${destination} ${secretId}`) ?? false;
  }

  /** The associations of secrets that exist, except those that end. */
  async #associations(): Promise<SeenAssociation[]> {
    const secrets = new Set((await seeSecrets(this.#stage.db)).map(({ id }) => id));
    const all = await seeAssociations(this.#stage.db);
    return all.filter(({ removing, secretId }) => !removing && secrets.has(secretId));
  }
}

function refOf({ destination: number, rule }: Pick<RuleRequest, 'destination' | 'rule'>) {
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
