import type { RequestHandler } from 'express';
import type { FaultBoard } from '../faults/fault-injector.ts';
import type { CallLog } from './call-log.ts';

/** One external secret, as the sandbox shows it. */
export interface HeldSecret {
  name: string;
  /** Where inside the store it lies: a region, a vault, a project. */
  region: string;
  /** The newest value, in clear; undefined where it has none. */
  value: string | undefined;
  tags: Record<string, string>;
  version_count: number;
  /** When it was or will be deleted, ISO 8601; null for one that is not scheduled. */
  deleted_at: string | null;
  updated_at: string;
}

/** What the sandbox gives to each simulated service. */
export interface SandboxTools {
  /** The text from which credentials are derived. */
  seed: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Keeps a record before it returns; `replay` gets it back after a restart. */
  keep(record: object): void;
}

/** A simulated service: what can be ordered from it and asked of it, whatever it speaks. */
export interface Simulation {
  /** The name under which faults, calls and contents are found. */
  readonly name: string;
  /** Path prefix of its endpoint. */
  readonly path: string;
  readonly routes: RequestHandler;
  readonly faults: FaultBoard;
  calls: CallLog['list'];
  /** Forgets contents, faults and calls. */
  reset(): void;
  /** Takes back one record given to `keep`, in the order in which they were given. */
  replay(record: object): void;
  /** The fewest records from which `replay` builds the present state. */
  snapshot(): Iterable<object>;
}

/** A simulated external store. A new one is a folder with such a function and a line in `stores/simulated-stores.ts`. */
export interface SimulatedStore extends Simulation {
  /** What a client needs to log in. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Everything it holds, unordered. */
  secrets(): HeldSecret[];
}
