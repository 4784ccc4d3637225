import { setTimeout as sleep } from 'node:timers/promises';
import { type Changed, differencesByHand, type External, expectedOf } from '../check/by-hand.ts';
import { externalId } from '../load/hands.ts';
import type { LoadedDestination, World } from '../load/world.ts';

/** A page of looks that has failed is repeated after a minute. */
const timeoutMs = 150_000;

/**
 * Has the service look at everything in the destinations whose external secrets were changed by hand. Returns the changes that it
 * has not reported or repaired, and those that it has not left alone.
 */
export async function lookAtTouched(world: World, changed: ReadonlyMap<string, Changed>): Promise<string[]> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    await Promise.all(world.touched.map((one) => lookAtAll(world, one, deadline)));
    const { touched, unfinished } = differencesByHand(changed, await externalSecrets(world));
    const isOver = performance.now() > deadline;
    if (touched.length > 0 || unfinished.length === 0 || isOver)
      return [
        ...touched.map((name) => `${name} was touched after somebody else had changed it`),
        ...unfinished.map((name) => `the drift of ${name} is not ${expectedOf(changed.get(name)!).drift}`),
      ];
    await sleep(500);
  }
}

async function lookAtAll({ api }: World, { path }: LoadedDestination, deadline: number): Promise<void> {
  await api('POST', `${path}/inspect`);
  while (performance.now() < deadline) {
    const { body } = await api('GET', path);
    if (!('inspect_initiated_at' in body.data)) return;
    await sleep(200);
  }
}

async function externalSecrets({ api, sandbox, touched }: World): Promise<Map<string, External>> {
  const seen = new Map<string, External>();
  for (const { type, path } of touched) {
    const contents = Object.entries(await sandbox.contents(type));
    const values = new Map(contents.map(([name, value]) => [externalId(type, name), value]));
    const { body } = await api('GET', `${path}/associations`);
    const lines = Object.values<Record<string, string>>(body.data.associated_secrets);
    for (const { external_name: name, drift } of lines) {
      const id = externalId(type, name!);
      seen.set(id, { value: values.get(id), drift: drift ?? null });
    }
  }
  return seen;
}

/** Does what an operator does who wants everything back: compares it, and takes over what somebody else has created. */
export async function takeBack({ api, touched }: World): Promise<void> {
  for (const { path } of touched) await api('POST', `${path}/retry`, { all: true, overwrite: true });
}
