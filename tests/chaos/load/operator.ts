import { setTimeout as sleep } from 'node:timers/promises';
import { type Draw, gatewayOf, type LoadClient, type Shared } from './clients.ts';
import type { Act, Operation } from './operation.ts';
import { cycledKeys, mount, shapeOf } from './world.ts';

const retryMs = 200;

/** Changes templates, pauses syncing, and purges and creates destinations. */
export class Operator implements LoadClient {
  readonly name = 'operator';
  readonly pauseMs = 500;
  readonly #shared: Shared;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  turn(draw: Draw): Promise<unknown> {
    const turns = [this.#rename, this.#rename, this.#pause, this.#recreate, this.#recreate];
    return turns[draw(turns.length)]!.call(this, draw);
  }

  #send(draw: Draw, act: Act, [method, path, body]: [string, string, unknown?]): Promise<Operation> {
    const { world, recorder } = this.#shared;
    const from = { client: this.name, gateway: gatewayOf(world, draw), token: world.rootToken };
    return recorder.run(act, { ...from, method, path, body });
  }

  async #rename(draw: Draw): Promise<void> {
    const { changing } = this.#shared.world;
    const one = changing[draw(changing.length)]!;
    const { id: destination, path } = one;
    const shape = shapeOf(one, draw(3));
    const renamed = await this.#send(draw, { act: 'rename', destination }, ['PATCH', path, shape]);
    if (renamed.outcome === 'ok')
      await this.#send(draw, { act: 'replan', destination }, ['POST', `${path}/replan`, {}]);
  }

  /** Disables syncing for a moment. */
  async #pause(draw: Draw): Promise<void> {
    const change = (disabled: boolean) =>
      this.#send(draw, { act: disabled ? 'disable' : 'enable' }, ['PATCH', 'sys/sync/config', { disabled }]);
    await change(true);
    await sleep(300 + draw(1_500));
    for (let tries = 0; tries < 100 && (await change(false)).outcome !== 'ok'; tries += 1)
      await sleep(retryMs);
  }

  /** Creates a destination, unless it exists, associates secrets with it, and in most cases purges it again. */
  async #recreate(draw: Draw): Promise<void> {
    const { cycled } = this.#shared.world;
    const one = cycled[draw(cycled.length)]!;
    const { id: destination, path } = one;
    const fields = { ...one.fields, ...shapeOf(one, 0) };
    const created = await this.#send(draw, { act: 'create', destination }, ['POST', path, fields]);
    if (created.outcome !== 'ok') return;
    for (const key of cycledKeys) {
      const body = { mount, secret_name: key };
      const set = { act: 'set' as const, destination, key };
      await this.#send(draw, set, ['POST', `${path}/associations/set?wait=0`, body]);
    }
    await sleep(draw(2_000));
    if (draw(3) > 0) await this.#send(draw, { act: 'purge', destination }, ['DELETE', `${path}?purge=true`]);
  }
}
