import type { ConnectedDestination, DestinationSettings } from '../driver/driver.ts';

/** Faults that every simulated destination can inject; each affects all calls from then on, unless it says otherwise. */
export const faultScenarios = [
  'throttled',
  'unavailable',
  'forbidden',
  'unauthenticated',
  'garbage',
  'huge',
  'redirect',
  'reset',
  'silence',
  'diesAfterActing',
] as const;

export type FaultScenario = (typeof faultScenarios)[number];

/** An external secret, as the simulated destination holds it. */
export interface ExternalSecret {
  value: string | undefined;
  /** Of a destination without tags, none. */
  tags: Record<string, string>;
  /** Grows with every write of a value. */
  writes: number;
}

/** A driver beside its simulated destination. */
export interface DriverHarness {
  /** Connects as a destination with usable settings and credentials; `over` goes on top of them. */
  connect(over?: Partial<DestinationSettings>): Promise<ConnectedDestination>;
  /** An allowed external name that no other test uses. */
  freshName(): string;
  external(name: string): Promise<ExternalSecret | undefined>;
  /** Puts a secret there that is not ours. */
  plantForeign(name: string, value: string): Promise<void>;
  /**
   * Injects a fault. `throttled` asks to wait seven seconds; `diesAfterActing` carries out the next call and then
   * breaks the connection, once.
   */
  inject(scenario: FaultScenario): void;
  /** Ends the injected fault. */
  clear(): void;
  /** How many calls the destination has had. */
  callCount(): number;
  /** Everything that a test may search for what must not be there: the destination's log of calls, the driver's log. */
  outputs(): string;
  stop(): Promise<void>;
}

/** What a suite is run on. */
export interface DriverUnderTest {
  /** The type's identifier. */
  name: string;
  maxValueBytes: number;
  takesEmptyValue: boolean;
  supportsTags: boolean;
  /** The suite plants `canary` in every secret that it makes; the harness uses it in credentials that are refused. */
  start(canary: string): Promise<DriverHarness>;
}
