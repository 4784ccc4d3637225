import type { FaultKind } from '@secrets/domain';
import type { EgressGuard } from '@secrets/egress';
import type { ConnectedDestination, DestinationSettings, DriverContext } from '../driver/driver.ts';
import type { FoundSecret } from '../driver/look.ts';

/** The seconds that `throttled` asks to wait: several tests wait for that long. */
export const throttledSeconds = 2;

/**
 * The faults that a simulated destination can inject. Each affects all calls until it is cleared. With `scopeGone`, the vault,
 * project or repository of the destination is not found.
 */
export type FaultScenario =
  | 'throttled'
  | 'unavailable'
  | 'forbidden'
  | 'unauthenticated'
  | 'scopeGone'
  | 'garbage'
  | 'huge'
  | 'redirect'
  | 'manyHeaders'
  | 'empty'
  | 'cutOff'
  | 'reset'
  | 'silence'
  | 'diesAfterActing';

/** 307 and 308 have a client that follows them repeat the request with its body. */
export type RedirectStatus = 302 | 307 | 308;

/** An external secret in the simulated destination. */
interface ExternalSecret {
  value: string | undefined;
  /** Empty for a destination without tags. */
  tags: Record<string, string>;
  /** The number of times a value was written. */
  writes: number;
}

/** A driver with its simulated destination. */
export interface DriverHarness {
  /** Connects as a destination with valid settings and credentials, which `over` overrides. */
  connect(over?: Partial<DestinationSettings>): Promise<ConnectedDestination>;
  /** Returns a valid external name that no other test uses. */
  freshName(): string;
  external(name: string): Promise<ExternalSecret | undefined>;
  /**
   * Returns everything that the destination holds of an external secret, sorted, without its name and values and without
   * what differs between two that were written in the same way, such as IDs and times.
   */
  stateOf(name: string): string[];
  /** Creates a secret that is not managed by this service. */
  plantForeign(name: string, value: string): Promise<void>;
  /** Changes an external secret as somebody else, in one of the ways of `changesOutside`. */
  changeOutside?(change: string, name: string): Promise<void>;
  /**
   * Injects a fault. `throttled` asks to wait for `throttledSeconds`. `diesAfterActing` affects only the next call: it
   * performs the operation and then closes the connection. `empty` affects only operations to which a success has a body.
   * @param operation one of `calls`, and the only one that the fault affects
   */
  inject(scenario: FaultScenario, operation?: string): void;
  /** Injects redirects to this address. */
  redirectTo(location: string, status: RedirectStatus): void;
  /**
   * From now on, reads and lists return the state of `ms` milliseconds ago, unless the provider documents them as strongly
   * consistent.
   */
  lag(ms: number): void;
  /** Ends the injected fault and the lag. */
  clear(): void;
  /** Returns the operations called since the last call of this function, where the destination logs them. */
  calls?(): string[];
  /** Returns the number of calls that the destination has received. */
  callCount(): number;
  /** Returns the operations other than reads that the destination has received, oldest first. */
  writes(): string[];
  /** Returns the names of the settings that the driver has read since the last call of this function. */
  settingsRead(): string[];
  /** Returns the destination's log of calls and the driver's log, which must not contain values. */
  outputs(): string;
  stop(): Promise<void>;
}

/** The harness of a driver whose calls the destination logs. */
export interface LoggingHarness extends DriverHarness {
  calls(): string[];
}

export interface HarnessOptions {
  /** The time in the simulated destination, in milliseconds since 1970. */
  clock?: () => number;
  /** Part of its error messages. */
  canary?: string;
}

/** Connects a driver that was created with other options, or that gets other identity tokens. */
export type DriverWith<Options> = (
  options: Options & Partial<Pick<DriverContext, 'identityToken'>>,
  over?: Partial<DestinationSettings>,
  egress?: EgressGuard,
) => Promise<ConnectedDestination>;

/** Driver that `describeDriver` tests, and the properties of its type. */
export interface DriverUnderTest {
  /** The type's identifier. */
  name: string;
  maxValueBytes: number;
  takesEmptyValue: boolean;
  /** Whether external secrets have tags, and with them the mark of the destination that they belong to. */
  supportsTags: boolean;
  /** Whether external secrets show which destination they belong to; by default, if they have tags. */
  showsOwner?: boolean;
  /**
   * Whether the driver calls `recordStart` and relies on `putStartedAt`, because external secrets have no tags; default false.
   */
  recordsStart?: boolean;
  /**
   * Whether a put that is repeated after its outcome was lost may write the value a second time: the store has no idempotency
   * tokens, and the driver does not read the value before it changes it; default false.
   */
  mayWriteTwice?: boolean;
  /** Whether a look compares values: the store returns them; default true. */
  readsValues?: boolean;
  /** Maximum number of secrets in a page of a list, if the tests can create more; by default, one page has all of them. */
  pageSize?: number;
  /** Calls of a look at an external secret that nothing has changed, after the first one of a client; default 1. */
  lookCalls?: number;
  /**
   * Changes that somebody else can make to an external secret (`changeOutside`), each with the result of a look after it. A put
   * must restore the value and everything that `external` returns as tags.
   */
  changesOutside?: Readonly<Record<string, Partial<FoundSecret> | { exists: false }>>;
  /** The writes of a repair after each of `changesOutside`; after those that it leaves, of a put with `overwrite`. */
  writesOutside?: Readonly<Record<string, readonly string[]>>;
  /** Changed settings that are pushed without the value, and the tags that they lead to; by default, custom tags. */
  pushedSetting?: { settings: Record<string, unknown>; tags: Readonly<Record<string, string>> };
  /** Those of `changesOutside` that a put must leave as they are, with the fault that it fails with and the reason. */
  leavesOutside?: Readonly<Record<string, { kind: FaultKind; because: string }>>;
  /**
   * Starts the simulated destination. The suite puts `canary` into every value; the harness puts it into the error
   * messages of `forbidden` and `unauthenticated`.
   */
  start(canary: string): Promise<DriverHarness>;
}
