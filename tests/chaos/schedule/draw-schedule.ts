import fc from 'fast-check';
import type { Fault, ScheduledFault, StoreEffect, Upstream } from './fault.ts';

/** The system that faults are drawn for. */
export interface Targets {
  /** What each process connects to. */
  upstreams: Readonly<Record<string, readonly Upstream[]>>;
  gateways: readonly string[];
  stores: readonly string[];
}

export interface ScheduleOptions {
  seed: number;
  /** How many faults. */
  count: number;
  /** The mean time between two faults. */
  everyMs: number;
}

/**
 * Milliseconds. A lease has 5 s, of which some have passed: after about that time, another worker has just taken over.
 * Half of the faults last that long, and two thirds of the stops.
 */
const short = fc.integer({ min: 500, max: 4_500 });
const aboutLease = fc.integer({ min: 4_600, max: 6_000 });
const duration = fc.oneof(short, aboutLease);
const standstill = fc.oneof({ weight: 1, arbitrary: short }, { weight: 2, arbitrary: aboutLease });
const downtime = fc.integer({ min: 300, max: 2_500 });
/** Before a process or server dies. In most cases it is slow then, so that much is under way that it does not finish. */
const slowedBy = fc.constantFrom(0, 150, 250, 400);
/** A request that is held for longer than this is dropped: a store cannot refuse one that arrives after the lease. */
const byMs = fc.integer({ min: 20, max: 400 });
const skew = fc.oneof(fc.integer({ min: 60_000, max: 900_000 }), fc.integer({ min: -900_000, max: -60_000 }));

const every = fc.integer({ min: 1, max: 3 });
const plainEffects = ['server-error', 'reset', 'silence', 'garbage', 'act-then-die', 'act-then-fail'];
/** Shorter than what is left of a lease after the time limit of an attempt. */
const storeMs = fc.integer({ min: 200, max: 1_500 });
const storeEffect: fc.Arbitrary<StoreEffect> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ effect: fc.constantFrom(...plainEffects), every }) },
  { weight: 3, arbitrary: fc.record({ effect: fc.constant('slow'), every: fc.constant(1), ms: storeMs }) },
  { weight: 1, arbitrary: fc.record({ effect: fc.constant('act-then-wait'), every, ms: storeMs }) },
  {
    weight: 1,
    arbitrary: fc.record({
      effect: fc.constant('throttle'),
      every,
      retryAfterSeconds: fc.constant(1),
    }),
  },
);

/**
 * Relative frequency of the faults that hit each service. There are many workers, and each is hit as a part of all of
 * them.
 */
const shares: Readonly<Record<string, number>> = {
  gateway: 2,
  login: 2,
  secrets: 4,
  'sync-control': 3,
  worker: 8,
};

const shareOf = (process: string): string => {
  const service = process.replace(/-\d$/, '');
  return service in shares ? service : 'worker';
};

function someProcess({ upstreams }: Targets): fc.Arbitrary<string> {
  const byService = Map.groupBy(Object.keys(upstreams).sort(), shareOf);
  const ofService = [...byService].map(([service, processes]) => ({
    weight: shares[service]!,
    arbitrary: fc.constantFrom(...processes),
  }));
  return fc.oneof(...ofService);
}

/** A fault of a process that is yet to be chosen. */
type Placeless = (process: string) => Fault;

function onProcess({ upstreams }: Targets): fc.Arbitrary<(process: string) => Fault> {
  const toAny = fc
    .nat()
    .map((n) => (process: string) => upstreams[process]![n % upstreams[process]!.length]!);
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ ms: downtime, slowedBy }).map(
        (drawn): Placeless =>
          (process) => ({ kind: 'kill', process, ...drawn }),
      ),
    },
    {
      weight: 8,
      arbitrary: standstill.map(
        (ms): Placeless =>
          (process) => ({ kind: 'stop', process, ms }),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.tuple(toAny, fc.integer({ min: 0, max: 4_000 })).map(
        ([to, ms]): Placeless =>
          (process) => ({ kind: 'cut', process, to: to(process), ms }),
      ),
    },
    {
      weight: 5,
      arbitrary: fc.tuple(toAny, duration).map(
        ([to, ms]): Placeless =>
          (process) => ({ kind: 'freeze', process, to: to(process), ms }),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(toAny, duration, byMs).map(
        ([to, ms, by]): Placeless =>
          (process) => ({
            kind: 'delay',
            process,
            to: to(process),
            ms,
            byMs: by,
          }),
      ),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(duration, skew).map(
        ([ms, by]): Placeless =>
          (process) => ({ kind: 'clock', process, ms, byMs: by }),
      ),
    },
  );
}

const isWorker = (process: string): boolean => shareOf(process) === 'worker';

/**
 * The processes of one of four hosts: two have an instance of every worker, and are drawn more often, because one that
 * wakes as another one has taken over is rare; two have the other services.
 */
function someHost({ upstreams }: Targets): fc.Arbitrary<string[]> {
  const isSecond = (process: string) => /-[23]$/.test(process);
  const all = Object.keys(upstreams).sort();
  const hosts = [...Map.groupBy(all, (process) => `${isWorker(process)} ${isSecond(process)}`).values()];
  return fc.oneof(
    ...hosts.map((processes) => ({
      weight: isWorker(processes[0]!) ? 3 : 1,
      arbitrary: fc.constant(processes),
    })),
  );
}

function elsewhere(targets: Targets): fc.Arbitrary<Fault> {
  const { gateways, stores } = targets;
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('host' as const),
        processes: someHost(targets),
        ms: aboutLease,
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('store' as const),
        store: fc.constantFrom(...stores),
        effect: storeEffect,
        ms: duration,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('server' as const),
        server: fc.constantFrom('postgres' as const, 'rabbit' as const),
        ms: downtime,
        slowedBy,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('disk' as const),
        process: fc.constantFrom(...gateways),
        ms: duration,
      }),
    },
  );
}

/**
 * Returns the schedule of a seed: always the same one. The next fault often comes before the last one has ended, and at
 * times hits the same process.
 */
export function drawSchedule({ seed, count, everyMs }: ScheduleOptions, targets: Targets): ScheduledFault[] {
  const drawn = fc.record({
    gapMs: fc.integer({ min: Math.ceil(everyMs / 3), max: Math.ceil((everyMs * 5) / 3) }),
    process: someProcess(targets),
    hitsSameProcess: fc.nat({ max: 3 }).map((n) => n === 0),
    fault: fc.oneof(
      {
        weight: 19,
        arbitrary: onProcess(targets).map((at) => ({ at, elsewhere: undefined })),
      },
      {
        weight: 8,
        arbitrary: elsewhere(targets).map((fault) => ({ at: undefined, elsewhere: fault })),
      },
    ),
  });
  const schedule: ScheduledFault[] = [];
  let atMs = 0;
  let last: string | undefined;
  for (const { gapMs, process, hitsSameProcess, fault } of fc.sample(fc.noBias(drawn), {
    seed,
    numRuns: count,
  })) {
    atMs += gapMs;
    if (fault.at !== undefined) last = hitsSameProcess ? (last ?? process) : process;
    schedule.push({ atMs, fault: fault.at?.(last!) ?? fault.elsewhere! });
  }
  return schedule;
}
