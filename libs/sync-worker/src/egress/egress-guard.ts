import { lookup as resolveName } from 'node:dns/promises';
import { type AgentOptions, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import { Fault } from '@secrets/domain';
import { type DestinationRules, parseRange, type WhyRefused, whyRefusedFor } from './egress-rules.ts';

export interface EgressOptions {
  /** The operator's list for all destinations: CIDRs with an optional port, such as `127.0.0.1/32:9000`. */
  allow?: readonly string[];
  /** What destinations may open for themselves by their own lists, in the same form. Nothing by default. */
  mayOpen?: readonly string[];
  /** Resolves a name to its addresses; the system's resolver by default. */
  resolve?: (host: string) => Promise<readonly string[]>;
}

/** The ways out for one destination. */
export interface Egress {
  /** For `http:` URLs. */
  httpAgent: HttpAgent;
  /** For `https:` URLs; certificates are always verified. */
  httpsAgent: HttpsAgent;
  /** Closes every socket. */
  close(): void;
}

/** Stands between the drivers and the network. */
export interface EgressGuard {
  /**
   * Agents whose connections go only where the operator and the destination allow. A name is resolved once; what is
   * dialled is an address that was checked, so a name that changes its answer gains nothing. A refused connection
   * fails with `Fault` `forbidden`, a name without address with `unavailable`. Agents follow no redirects.
   */
  forDestination(settings: DestinationRules): Egress;
}

/** Builds the guard. Throws for an entry that is no address; meant to stop the process at its start. */
export function createEgressGuard({
  allow = [],
  mayOpen = [],
  resolve = systemAddresses,
}: EgressOptions): EgressGuard {
  const operator = { allow: allow.map(parseRange), mayOpen: mayOpen.map(parseRange) };
  return {
    forDestination(settings) {
      const gate: Gate = { whyRefused: whyRefusedFor(operator, settings), resolve };
      const httpAgent = new GuardedHttpAgent(gate);
      const httpsAgent = new GuardedHttpsAgent(gate);
      return {
        httpAgent,
        httpsAgent,
        close() {
          httpAgent.destroy();
          httpsAgent.destroy();
        },
      };
    },
  };
}

const systemAddresses = async (host: string): Promise<string[]> =>
  (await resolveName(host, { all: true })).map(({ address }) => address);

interface Gate {
  whyRefused: WhyRefused;
  resolve(host: string): Promise<readonly string[]>;
}

/** What Node gives to `createConnection`, as far as it matters here. */
interface Dial {
  host?: string | null | undefined;
  hostname?: string | null | undefined;
  port?: string | number | null | undefined;
  socketPath?: string | undefined;
  path?: string | null | undefined;
}

type Dialled = (error: Error | null, stream: Duplex) => void;

const pool = { keepAlive: true, maxSockets: 64, maxFreeSockets: 16, timeout: 60_000 } satisfies AgentOptions;

class GuardedHttpAgent extends HttpAgent {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    super(pool);
    this.#gate = gate;
  }

  override createConnection(options: object, dialled?: Dialled): Duplex | null | undefined {
    return through(this.#gate, options, dialled, (guarded) => super.createConnection(guarded, dialled));
  }
}

class GuardedHttpsAgent extends HttpsAgent {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    super({ ...pool, rejectUnauthorized: true } satisfies HttpsAgentOptions);
    this.#gate = gate;
  }

  override createConnection(options: object, dialled?: Dialled): Duplex | null | undefined {
    return through(this.#gate, options, dialled, (guarded) =>
      super.createConnection({ ...guarded, rejectUnauthorized: true }, dialled),
    );
  }
}

/** Lets a connection be made only with a checked address: of a name while it is resolved, of a literal at once. */
function through(
  gate: Gate,
  options: Dial,
  dialled: Dialled | undefined,
  connect: (options: object) => Duplex | null | undefined,
): Duplex | null | undefined {
  const host = (options.host ?? options.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
  const port = Number(options.port);
  const refusal = options.socketPath
    ? 'a socket of this machine is no destination'
    : refusedLiteral(gate, host, port);
  if (refusal === undefined) return connect({ ...options, host, lookup: guardedLookup(gate, port) });
  const refuse = dialled as ((error: Error) => void) | undefined; // Node looks at no stream when there is an error
  refuse?.(refused(host, refusal));
  return undefined;
}

const refusedLiteral = (gate: Gate, host: string, port: number): string | undefined =>
  isIP(host) === 0 ? undefined : gate.whyRefused(host, port);

const refused = (host: string, why: string): Fault =>
  new Fault('forbidden', `no connection to ${host} is made: ${why}`);

/** Resolves a name once and lets through the addresses that may be dialled; with none, says why the first may not. */
function guardedLookup(gate: Gate, port: number): LookupFunction {
  return (host, options, done) => {
    permittedAddresses(gate, host, port).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIP(address) }));
        const fitting = found.filter(({ family }) => !options.family || options.family === family);
        const [first] = fitting.length > 0 ? fitting : found;
        if (options.all) done(null, fitting.length > 0 ? fitting : found);
        else done(null, first?.address ?? '', first?.family);
      },
      (error: Error) => done(error, ''),
    );
  };
}

async function permittedAddresses(gate: Gate, host: string, port: number): Promise<string[]> {
  const addresses = await addressesOf(gate, host);
  const permitted = addresses.filter((address) => gate.whyRefused(address, port) === undefined);
  if (permitted.length > 0) return permitted;
  throw refused(host, gate.whyRefused(addresses[0] ?? '', port) ?? 'it has no address');
}

async function addressesOf(gate: Gate, host: string): Promise<readonly string[]> {
  const addresses = await gate.resolve(host).catch((): readonly string[] => []);
  if (addresses.length === 0) throw new Fault('unavailable', `the name ${host} cannot be resolved`);
  return addresses;
}
