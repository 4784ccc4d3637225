import { type DestinationDescription, destinationTypes } from '@secrets/destinations';
import { createEgressGuard } from '@secrets/egress';
import { createLogger } from '@secrets/telemetry';
import type { ConnectedDestination, DestinationSettings, Driver, DriverContext } from '../driver/driver.ts';
import { parsedSettings } from '../driver/parsed-settings.ts';
import { ScopeMemory } from '../driver/scope-memory.ts';
import {
  type DriverHarness,
  type FaultScenario,
  type RedirectStatus,
  throttledSeconds,
} from './driver-harness.ts';

/** An error response of the provider. */
interface Refusal {
  code: string;
  status?: number;
}

/** A fault, as the sandbox describes it. */
type StoreFault = { operation?: string | string[] } & (
  | { effect: 'throttle'; retryAfterSeconds: number }
  | ({ effect: 'error'; message: string } & Refusal)
  | { effect: 'huge'; bytes: number }
  | { effect: 'act-then-die'; times: number }
  | { effect: 'stale-read'; ms: number }
  | { effect: 'redirect'; location: string; status: RedirectStatus }
  | { effect: 'server-error' | 'garbage' | 'redirect' | 'reset' | 'silence' }
  | { effect: 'many-headers'; lines: number }
  | { effect: 'empty' | 'cut-off' }
);

/** Part of a simulated service that a harness uses. */
interface SimulatedStore {
  calls(): readonly { operation: string; at: string }[];
  faults: { add(fault: StoreFault): unknown; clear(): void };
  /** Records of everything that it holds. */
  snapshot(): Iterable<object>;
}

interface SimulatedStoresOptions {
  /** The first receives the faults. The calls of all are counted. */
  stores: readonly [SimulatedStore, ...SimulatedStore[]];
  /** Operations that change nothing, such as reads, lists and requests for tokens. All others count as writes. */
  reads: RegExp;
  /** How the provider refuses a call. */
  refusals: Record<'forbidden' | 'unauthenticated' | 'scopeGone', Refusal>;
  /** The operations to which a success has a body; by default, all. */
  withBody?: string[];
  /** The message of these refusals. */
  canary: string;
  /** By default, that of the driver's type. */
  description?: DestinationDescription;
  /**
   * Returns the part of a record of the first store that shows settings, in a form that does not depend on the time; undefined
   * for none. By default, all of it. What its name shows to be an ID, a time or the like is left out.
   */
  settingsIn?(record: object): object | undefined;
  /** The destination that `connectDriver` connects as. */
  destination: Pick<DestinationSettings, 'settings' | 'credentials'> & Partial<DestinationSettings>;
}

interface ConnectContext {
  egress?: DriverContext['egress'] | undefined;
  identityToken?: DriverContext['identityToken'] | undefined;
  scope?: ScopeMemory | undefined;
  remembered?: DriverContext['remembered'] | undefined;
}

/** The part of a driver's harness that is the same for every simulated store. */
interface SimulatedStores
  extends Pick<
    DriverHarness,
    | 'inject'
    | 'redirectTo'
    | 'lag'
    | 'clear'
    | 'callCount'
    | 'writes'
    | 'settingsRead'
    | 'stateOf'
    | 'outputs'
  > {
  /** Returns the operations called since the last call of this function. */
  calls(): string[];
  /**
   * Connects the driver, and collects what it logs. By default, its egress is not restricted, its identity token is `none`, and
   * nothing is remembered of other external secrets.
   */
  connectDriver(
    driver: Driver,
    over?: Partial<DestinationSettings>,
    context?: ConnectContext,
  ): Promise<ConnectedDestination>;
}

/** Returns the part of a driver's harness that injects faults, counts calls, connects the driver and collects its log. */
export function simulatedStores(options: SimulatedStoresOptions): SimulatedStores {
  const { stores } = options;
  const lines: string[] = [];
  const read = new Set<string>();
  const allCalls = () =>
    stores.flatMap((store) => store.calls()).sort((one, other) => one.at.localeCompare(other.at));
  let seen = 0;
  return {
    inject: (scenario, operation) => {
      for (const fault of faultsFor(options, scenario, operation)) stores[0].faults.add(fault);
    },
    redirectTo: (location, status) => void stores[0].faults.add({ effect: 'redirect', location, status }),
    lag: (ms) => void stores[0].faults.add({ effect: 'stale-read', ms }),
    clear() {
      for (const store of stores) store.faults.clear();
    },
    calls() {
      const operations = allCalls().map(({ operation }) => operation);
      const fresh = operations.slice(seen);
      seen = operations.length;
      return fresh;
    },
    callCount: () => allCalls().length,
    writes: () => allCalls().flatMap(({ operation }) => (options.reads.test(operation) ? [] : [operation])),
    stateOf: (name) => stateOf(options, name),
    settingsRead() {
      const names = [...read];
      read.clear();
      return names;
    },
    outputs: () => JSON.stringify(allCalls()) + lines.join(''),
    connectDriver: connectorOf(options, lines, read),
  };
}

/** The name of an external secret, its values, and what identifies it or a write of it. */
const incidental =
  /^(?:id|arn|name|key|value|text|data|etag|newest|number|state|stages|position|writes|hasChecksum|.*At(?:Ms)?)$/;

function stateOf(
  { stores, settingsIn = (record) => record }: SimulatedStoresOptions,
  name: string,
): string[] {
  const about = [...stores[0].snapshot()]
    .filter((record) => JSON.stringify(record).includes(JSON.stringify(name)))
    .map(settingsIn);
  const shown = about.filter((settings) => settings !== undefined);
  return [...new Set(shown.map((settings) => JSON.stringify(comparable(settings))))].sort();
}

/** The same for objects and lists that differ only in their order, and for an empty text and none. */
function comparable(held: unknown): unknown {
  if (Array.isArray(held))
    return held
      .map(comparable)
      .map((item) => JSON.stringify(item))
      .sort();
  if (typeof held !== 'object' || held === null) return held;
  const parts = Object.entries(held).filter(([part, value]) => value !== '' && !incidental.test(part));
  return Object.fromEntries(parts.map(([part, value]) => [part, comparable(value)] as const).sort());
}

/** None if the fault does not affect the operation. */
function faultsFor(
  options: SimulatedStoresOptions,
  scenario: FaultScenario,
  operation?: string,
): StoreFault[] {
  const fault = faultsOf(options)[scenario];
  const { withBody } = options;
  if (scenario !== 'empty' || withBody === undefined)
    return [operation === undefined ? fault : { ...fault, operation }];
  const affected = withBody.filter((one) => operation === undefined || one === operation);
  return affected.length === 0 ? [] : [{ ...fault, operation: affected }];
}

const faultsOf = ({
  refusals,
  canary: message,
}: SimulatedStoresOptions): Record<FaultScenario, StoreFault> => ({
  throttled: { effect: 'throttle', retryAfterSeconds: throttledSeconds },
  unavailable: { effect: 'server-error' },
  forbidden: { effect: 'error', ...refusals.forbidden, message },
  unauthenticated: { effect: 'error', ...refusals.unauthenticated, message },
  scopeGone: { effect: 'error', ...refusals.scopeGone, message },
  garbage: { effect: 'garbage' },
  huge: { effect: 'huge', bytes: 4 * 1024 * 1024 },
  redirect: { effect: 'redirect' },
  manyHeaders: { effect: 'many-headers', lines: 4_000 },
  empty: { effect: 'empty' },
  cutOff: { effect: 'cut-off' },
  reset: { effect: 'reset' },
  silence: { effect: 'silence' },
  diesAfterActing: { effect: 'act-then-die', times: 1 },
});

function connectorOf(
  { destination, description }: SimulatedStoresOptions,
  lines: string[],
  read: Set<string>,
): SimulatedStores['connectDriver'] {
  const log = createLogger({
    service: 'test',
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  return async (
    driver,
    over = {},
    {
      egress = createEgressGuard({}),
      identityToken = async () => 'none',
      scope = new ScopeMemory(null, async (id) => id),
      remembered = async () => [],
    } = {},
  ) =>
    driver.connect(
      {
        id: '5b0a6c3e-0000-4000-8000-000000000001',
        type: driver.type,
        name: 'main',
        namespacePath: '',
        ...destination,
        ...over,
        settings: recordingReads(
          parsedSettings(description ?? destinationTypes[driver.type], 'main', {
            ...destination.settings,
            ...over.settings,
          }),
          read,
        ),
      },
      { log, egress, prefix: 'secrets', identityToken, scope, remembered },
    );
}

const recordingReads = (settings: Record<string, unknown>, read: Set<string>) =>
  new Proxy(settings, {
    get: (target, name) => {
      read.add(String(name));
      return Reflect.get(target, name);
    },
  });
