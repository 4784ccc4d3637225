import type { RequestHandler } from 'express';
import type { FaultInjector } from '../faults/fault-injector.ts';
import type { CallLog } from './call-log.ts';

/** Dependencies that the sandbox provides to each simulated service. */
export interface SimulationContext {
  /** The text from which credentials are derived. */
  seed: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Writes a record to the journal before it returns. After a restart, `replay` receives it. */
  persist(record: object): void;
}

/** A simulated service, whatever its protocol. */
export interface Simulation {
  /** The name of the service in faults, calls and contents. */
  readonly name: string;
  /** Path prefix of its endpoint. */
  readonly path: string;
  readonly routes: RequestHandler;
  readonly faults: FaultInjector;
  calls: CallLog['list'];
  /** Discards contents, faults and calls. */
  reset(): void;
  /** Applies one persisted record. Records arrive in the order in which they were persisted. */
  replay(record: object): void;
  /** A minimal sequence of records from which `replay` rebuilds the current state. */
  snapshot(): Iterable<object>;
}
