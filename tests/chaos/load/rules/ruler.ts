import { send } from '../../../harness/http.ts';
import { type Draw, gatewayOf, type LoadClient, type Shared } from '../clients.ts';
import type { Act, Operation } from '../operation.ts';
import { changingFolder, type RuleSettings, ruleBody, ruledMount, ruledValue, rulePath } from './ruled.ts';

const secretCount = 12;
const rules = ['r0', 'r1'];
const paths = [`${changingFolder}/*`, `${changingFolder}/*`, `${changingFolder}/k1*`];
const matches = [{}, { sync: 'p' }, { sync: 'p' }];
const tags = ['p', 'p', 'q'];

/** Writes, narrows and deletes rules, and creates secrets and changes their metadata, so that they begin and cease to match. */
export class Ruler implements LoadClient {
  readonly name = 'ruler';
  readonly pauseMs = 400;
  readonly #shared: Shared;
  #created = 0;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  turn(draw: Draw): Promise<unknown> {
    if (this.#created < secretCount && draw(2) === 0) return this.#create(draw);
    const turns = [this.#tag, this.#tag, this.#tag, this.#write, this.#write, this.#end];
    return turns[draw(turns.length)]!.call(this, draw);
  }

  #send(draw: Draw, act: Act, [method, path, body]: [string, string, unknown?]): Promise<Operation> {
    const { world, recorder } = this.#shared;
    const from = { client: this.name, gateway: gatewayOf(world, draw), token: world.rootToken };
    return recorder.run(act, { ...from, method, path, body });
  }

  #create(draw: Draw): Promise<Operation> {
    const key = `${changingFolder}/k${this.#created++}`;
    const body = { data: { value: ruledValue(this.#shared.world.canary, key) } };
    return this.#send(draw, { act: 'add', key }, ['POST', `${ruledMount}/data/${key}`, body]);
  }

  async #tag(draw: Draw): Promise<void> {
    if (this.#created === 0) return;
    const key = `${changingFolder}/k${draw(this.#created)}`;
    const sync = tags[draw(tags.length)]!;
    const body = { custom_metadata: { sync } };
    await this.#send(draw, { act: 'tag', key, value: sync }, ['POST', `${ruledMount}/metadata/${key}`, body]);
  }

  /** Creates or replaces a rule. One that releases associations needs the fingerprint of its plan. */
  async #write(draw: Draw): Promise<void> {
    const { world } = this.#shared;
    const { id: destination, path } = this.#destination(draw);
    const rule = rules[draw(rules.length)]!;
    const settings: RuleSettings = {
      path: paths[draw(paths.length)]!,
      metadata_match: matches[draw(matches.length)]!,
    };
    const act = { act: 'rule' as const, destination, rule, settings };
    const body = ruleBody(settings);
    const { status } = await this.#send(draw, act, ['POST', rulePath({ path }, rule), body]);
    if (status !== 409) return;
    const headers = { 'x-service-token': world.rootToken };
    const url = `${gatewayOf(world, draw).url}/v1/${rulePath({ path }, rule)}/plan`;
    const plan = await send(url, 'POST', { headers, body }).catch(() => undefined);
    if (plan?.status !== 200) return;
    const confirmed = { ...body, confirm: plan.body.data.fingerprint };
    await this.#send(draw, act, ['POST', rulePath({ path }, rule), confirmed]);
  }

  async #end(draw: Draw): Promise<void> {
    const { id: destination, path } = this.#destination(draw);
    const rule = rules[draw(rules.length)]!;
    const keep = draw(4) === 0;
    const act = { act: 'end' as const, destination, rule, keep };
    await this.#send(draw, act, ['DELETE', `${rulePath({ path }, rule)}?keep=${keep}`]);
  }

  #destination(draw: Draw) {
    const { ruled } = this.#shared.world;
    return ruled[draw(ruled.length)]!;
  }
}
