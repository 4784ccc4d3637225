import fc from 'fast-check';
import type { Answer } from '../../harness/http.ts';
import type { Gateway, Recorder } from './recorder.ts';
import { hotKeys, keysOf, type LoadedDestination, mount, stillAssociations, type World } from './world.ts';

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

/** Objects that the load's clients share. */
export interface Shared {
  world: World;
  recorder: Recorder;
}

/** Number of writers. */
export const writers = 4;

/**
 * Reads and writes secrets: in turn the cold ones that only the `nth` writer has, and in between hot ones, which all
 * writers share. A third of the writes expect a version.
 */
export function writer({ world, recorder }: Shared, nth: number): LoadClient {
  const name = `writer-${nth + 1}`;
  const own = world.coldKeys.filter((_, at) => at % writers === nth);
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
  await withEach(keysOf(world), async (key) => {
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

/** Requests about one token after the other. */
export interface TokenRequests {
  /** Returns the token; undefined if the login was not acknowledged. */
  logIn(): Promise<string | undefined>;
  /** Reads with the token through every gateway at once. */
  use(token: string): Promise<unknown>;
  /** Revokes the token: as itself, or with the root token. */
  revoke(token: string, options: { bySelf: boolean }): Promise<unknown>;
}

/** Creates requests of a client through a gateway. */
export function tokenRequests(
  { world, recorder }: Shared,
  { client, gateway, draw }: { client: string; gateway: () => Gateway; draw: Draw },
): TokenRequests {
  const keys = keysOf(world);
  const request = () => ({ client, gateway: gateway(), token: '' });
  return {
    logIn: async () => {
      const login = await recorder.run(
        { act: 'login' },
        {
          ...request(),
          method: 'POST',
          path: 'auth/app/login',
          body: { role: 'app', jwt: world.jwt },
          learn: ({ body }) => ({ token: body.auth.client_token }),
        },
      );
      return login.act === 'login' ? login.token : undefined;
    },
    use: (token) =>
      Promise.all(
        world.gateways.map((one) => {
          const key = keys[draw(keys.length)]!;
          const read = { client, gateway: one, token, method: 'GET', path: `${mount}/data/${key}` };
          return recorder.run({ act: 'read', key, token }, { ...read, learn: readVersion });
        }),
      ),
    revoke: (token, { bySelf }) => {
      const sent = bySelf
        ? { token, path: 'auth/token/revoke-self' }
        : { token: world.rootToken, path: 'auth/token/revoke', body: { token } };
      return recorder.run({ act: 'revoke', token }, { ...request(), method: 'POST', ...sent });
    },
  };
}

/** Logs in, reads with the token through every gateway, revokes it, and tries it again. */
export const session = (shared: Shared, name: string): LoadClient => ({
  name,
  pauseMs: 300,
  turn: async (draw) => {
    const gateway = gatewayOf(shared.world, draw);
    const requests = tokenRequests(shared, { client: name, gateway: () => gateway, draw });
    const token = await requests.logIn();
    if (token === undefined) return;
    await requests.use(token);
    await requests.revoke(token, { bySelf: draw(2) === 0 });
    await requests.use(token);
    await requests.use(token);
  },
});
