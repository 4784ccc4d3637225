import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connectTarget, type Gate, guardedLookup, refused } from './gate.ts';

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
  const port = Number(options.port);
  const { host, refusal } = options.socketPath
    ? { host: '', refusal: refused('', 'a Unix domain socket cannot be a destination') }
    : connectTarget(gate, options.host ?? options.hostname ?? '', port);
  if (refusal === undefined) return connect({ ...options, host, lookup: guardedLookup(gate, port) });
  const refuse = connected as ((error: Error) => void) | undefined; // Node ignores the stream if there is an error
  refuse?.(refusal);
  return undefined;
}
