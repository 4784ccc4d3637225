import fc from 'fast-check';
import type { Answer } from '../../harness/http.ts';
import type { Recorder } from './recorder.ts';
import {
  coldKeys,
  hotKeys,
  keys,
  type LoadedDestination,
  mount,
  stillAssociations,
  type World,
} from './world.ts';

/** One client of the load: repeats its turn until the load ends. */
export interface LoadClient {
  name: string;
  /** Milliseconds between two turns. */
  pauseMs: number;
  turn(draw: Draw): Promise<unknown>;
}

/** Draws numbers below `max`. */
export type Draw = (max: number) => number;

/** A draw of a seed: the same numbers every time. */
export function drawOf(seed: number): Draw {
  const numbers = fc.sample(fc.nat(), { seed, numRuns: 5_000 });
  let at = 0;
  return (max) => numbers[at++ % numbers.length]! % max;
}

/** What the load's clients share. */
export interface Shared {
  world: World;
  recorder: Recorder;
}

/** How many writers there are. */
export const writers = 4;

/**
 * Reads and writes secrets: in turn the cold ones that only the `nth` writer has, and in between hot ones, which all writers share. A third of the
 * writes expect a version.
 */
export function writer({ world, recorder }: Shared, nth: number): LoadClient {
  const name = `writer-${nth + 1}`;
  const own = coldKeys.filter((_, at) => at % writers === nth);
  let writes = 0;
  let coldWrites = 0;
  const known = new Map<string, number>();
  return {
    name,
    pauseMs: 150,
    turn: async (draw) => {
      const isHot = draw(3) === 0;
      const key = isHot ? hotKeys[draw(hotKeys.length)]! : own[coldWrites % own.length]!;
      const request = { client: name, gateway: gatewayOf(world, draw), token: world.rootToken };
      if (draw(4) === 0) {
        const read = await recorder.run(
          { act: 'read', key, token: world.rootToken },
          { ...request, method: 'GET', path: `${mount}/data/${key}`, learn: readVersion },
        );
        if (read.act === 'read' && read.version !== undefined) known.set(key, read.version);
        return;
      }
      if (!isHot) coldWrites += 1;
      const cas = draw(3) === 0 ? known.get(key) : undefined;
      const value = `${world.canary}-${name}-${writes++}`;
      const body = { data: { value }, ...(cas === undefined ? {} : { options: { cas } }) };
      const written = await recorder.run(
        { act: 'write', key, value, cas },
        { ...request, method: 'POST', path: `${mount}/data/${key}`, body, learn: writtenVersion },
      );
      if (written.act === 'write' && written.version !== undefined) known.set(key, written.version);
    },
  };
}

/** Writes the first version of each secret, and associates the cold ones. */
export async function beginWithEach({ world, recorder }: Shared): Promise<void> {
  const request = { client: 'first', gateway: world.gateways[0]!, token: world.rootToken, method: 'POST' };
  await withEach(keys, async (key) => {
    const value = `${world.canary}-first-${key}`;
    const sent = {
      ...request,
      path: `${mount}/data/${key}`,
      body: { data: { value } },
      learn: writtenVersion,
    };
    await recorder.run({ act: 'write', key, value }, sent);
  });
  await withEach(stillAssociations(world), async ({ destination: { id, path }, key }) => {
    const set = { path: `${path}/associations/set?wait=0`, body: { mount, secret_name: key } };
    await recorder.run({ act: 'set', destination: id, key }, { ...request, ...set });
  });
}

const atOnce = 8;

/** Calls `work` with each item, a few of them at once. */
async function withEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = items.values();
  const one = async () => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}

/** One of the gateways. */
export const gatewayOf = ({ gateways }: World, draw: Draw) => gateways[draw(gateways.length)]!;
const writtenVersion = ({ body }: Answer) => ({ version: body.data.version });
const readVersion = ({ status, body }: Answer) =>
  status === 404 ? { version: 0 } : { version: body.data.metadata.version, value: body.data.data.value };

/** Sets and removes the associations of some destinations, which no other client changes. */
export function associator(
  { world, recorder }: Shared,
  name: string,
  destinations: readonly LoadedDestination[],
): LoadClient {
  return {
    name,
    pauseMs: 250,
    turn: (draw) => {
      const { id, path } = destinations[draw(destinations.length)]!;
      const key = hotKeys[draw(hotKeys.length)]!;
      const act = draw(5) === 0 ? ('remove' as const) : ('set' as const);
      const wait = draw(6) === 0 ? '1' : '0';
      return recorder.run(
        { act, destination: id, key },
        {
          client: name,
          gateway: gatewayOf(world, draw),
          token: world.rootToken,
          method: 'POST',
          path: `${path}/associations/${act}?wait=${wait}`,
          body: { mount, secret_name: key },
        },
      );
    },
  };
}

/** Logs in, reads with the token through every gateway, revokes it, and tries it again. */
export function session({ world, recorder }: Shared, name: string): LoadClient {
  return {
    name,
    pauseMs: 300,
    turn: async (draw) => {
      const request = { client: name, gateway: gatewayOf(world, draw), token: '' };
      const login = await recorder.run(
        { act: 'login' },
        {
          ...request,
          method: 'POST',
          path: 'auth/app/login',
          body: { role: 'app', jwt: world.jwt },
          learn: ({ body }) => ({ token: body.auth.client_token }),
        },
      );
      if (login.act !== 'login' || login.token === undefined) return;
      const { token } = login;
      const use = () =>
        Promise.all(
          world.gateways.map((gateway) => {
            const key = keys[draw(keys.length)]!;
            const read = { client: name, gateway, token, method: 'GET', path: `${mount}/data/${key}` };
            return recorder.run({ act: 'read', key, token }, { ...read, learn: readVersion });
          }),
        );
      await use();
      const bySelf = draw(2) === 0;
      const revoke = bySelf
        ? { token, path: 'auth/token/revoke-self' }
        : { token: world.rootToken, path: 'auth/token/revoke', body: { token } };
      await recorder.run({ act: 'revoke', token }, { ...request, method: 'POST', ...revoke });
      await use();
      await use();
    },
  };
}
