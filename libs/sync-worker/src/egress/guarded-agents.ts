import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { Fault } from '@secrets/domain';

/** Decides which connections the agents of one destination may open. */
export interface Gate {
  /** Returns why a connection to this address, under this host name, is refused; undefined if it is permitted. */
  whyRefused(host: string, address: string, port: number): string | undefined;
  resolve(host: string): Promise<readonly string[]>;
}

/** The options of `createConnection`, as far as they matter here. */
interface ConnectOptions {
  host?: string | null | undefined;
  hostname?: string | null | undefined;
  port?: string | number | null | undefined;
  socketPath?: string | undefined;
}

type Connected = (error: Error | null, stream: Duplex) => void;

const pool = { keepAlive: true, maxSockets: 64, maxFreeSockets: 16, timeout: 60_000 } satisfies AgentOptions;

export class GuardedHttpAgent extends HttpAgent {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    super(pool);
    this.#gate = gate;
  }

  override createConnection(options: object, connected?: Connected): Duplex | null | undefined {
    return guard(this.#gate, options, connected, (guarded) => super.createConnection(guarded, connected));
  }
}

export class GuardedHttpsAgent extends HttpsAgent {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    super({ ...pool, rejectUnauthorized: true } satisfies HttpsAgentOptions);
    this.#gate = gate;
  }

  override createConnection(options: object, connected?: Connected): Duplex | null | undefined {
    return guard(this.#gate, options, connected, (guarded) =>
      super.createConnection({ ...guarded, rejectUnauthorized: true }, connected),
    );
  }
}

/** Connects only to a checked address. A literal address is checked here, a name when it is resolved. */
function guard(
  gate: Gate,
  options: ConnectOptions,
  connected: Connected | undefined,
  connect: (options: object) => Duplex | null | undefined,
): Duplex | null | undefined {
  const host = (options.host ?? options.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
  const port = Number(options.port);
  const refusal = options.socketPath
    ? 'a Unix domain socket cannot be a destination'
    : isIP(host) === 0
      ? undefined
      : gate.whyRefused(host, host, port);
  if (refusal === undefined) return connect({ ...options, host, lookup: guardedLookup(gate, port) });
  const refuse = connected as ((error: Error) => void) | undefined; // Node ignores the stream if there is an error
  refuse?.(refused(host, refusal));
  return undefined;
}

const refused = (host: string, why: string): Fault =>
  new Fault('forbidden', `connection to ${host} refused: ${why}`);

/** Resolves a name once and returns the permitted addresses. If there is none, it fails with the first one's refusal. */
function guardedLookup(gate: Gate, port: number): LookupFunction {
  return (host, options, done) => {
    permittedAddresses(gate, host, port).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const preferred = found.filter(({ family }) => !options.family || options.family === family);
        const usable = preferred.length > 0 ? preferred : found;
        if (options.all) done(null, usable);
        else done(null, usable[0]?.address ?? '', usable[0]?.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

async function permittedAddresses(gate: Gate, host: string, port: number): Promise<string[]> {
  const addresses = await gate.resolve(host).catch((): readonly string[] => []);
  const [first] = addresses;
  if (first === undefined) throw new Fault('unavailable', `the name ${host} cannot be resolved`);
  const permitted = addresses.filter((address) => gate.whyRefused(host, address, port) === undefined);
  if (permitted.length > 0) return permitted;
  throw refused(host, gate.whyRefused(host, first, port) ?? '');
}
