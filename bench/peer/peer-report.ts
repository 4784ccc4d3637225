import type { Run, Runs } from '../load/alternate.ts';
import type { Memory } from '../load/process-tree.ts';
import { median } from '../load/statistics.ts';
import { describeTarget, type Figure, figure, type Target, verdictOf } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { names, type PeerSide } from './sides.ts';
import type { Ready } from './standalone-peer.ts';

interface Comparison {
  side: string;
  peer: string;
  /** At least this multiple of the peer's requests per second; undefined if there is no target. */
  atLeast?: Readonly<Record<string, number>>;
}

/** The name of the load in which every side uses its method `jwt`. */
export const jwtLogins = 'login with jwt';

const comparisons: Comparison[] = [
  { side: names.distributed, peer: names.raft, atLeast: { login: 2, [jwtLogins]: 2, write: 2, read: 1.6 } },
  { side: names.distributed, peer: names.postgres, atLeast: { login: 5, write: 5, read: 5 } },
  { side: names.distributed, peer: names.tunedPostgres },
  { side: names.standalone, peer: names.raft, atLeast: { login: 1, write: 1, read: 1 } },
];
/** Milliseconds of the separate services. */
const maxP99: Partial<Record<string, number>> = { write: 30, read: 15 };

/** Reports every side, and compares the product with OpenBao. `runs` are those of each load by its name. */
export function reportOfPeers(sides: PeerSide[], runs: Map<string, Runs>, missing: string[]): Report {
  const figures = [...runs].flatMap(([kind, ofKind]) => [
    ...comparisons.flatMap((comparison) => ratioFigure(kind, ofKind, comparison)),
    ...latencyFigures(kind, ofKind),
  ]);
  const rows = [...runs].flatMap(([kind, ofKind]) => sides.map((side) => rowOf(kind, ofKind, side, figures)));
  const measured = Object.fromEntries([...runs].map(([kind, ofKind]) => [kind, Object.fromEntries(ofKind)]));
  return { title, columns, rows, notes: [...notes, ...missing], measured, figures };
}

const title = 'Logins, writes and reads next to OpenBao';
const columns = ['', 'per second', 'p50 ms', 'p99 ms', 'CPU µs per request', 'ratios and targets', 'met'];
const notes = [
  '32 connections, 1000 secrets chosen at random, 50 identities; all servers run at the same time and are measured in turn',
  'login: by the method cloudB of the product, and by jwt of OpenBao; login with jwt: by the method jwt of both, with the same keys, role and bound claims',
  'ratio: of the requests per second within a round; median of the rounds',
  'distributed: one process each of gateway, login and secrets, on the Postgres that OpenBao on Postgres uses; standalone: npm start on an empty folder, without the sandbox; its Postgres is part of "all"',
  'OpenBao on Postgres opens a connection for almost every statement under load; tuned, it keeps 32 (max_idle_connections)',
  'OpenBao without audit devices; the product writes two audit lines for each request',
];

function ratioFigure(kind: string, runs: Runs, { side, peer, atLeast }: Comparison): Figure[] {
  const [own, other] = [runs.get(side), runs.get(peer)];
  if (own === undefined || other === undefined) return [];
  return [
    figure({
      name: `${kind}, ${side}, against ${peer}`,
      measured: median(own.map(({ perSecond }) => perSecond)),
      unit: 'requests/s',
      peer: { name: peer, measured: median(other.map(({ perSecond }) => perSecond)) },
      ratio: median(own.map((run, at) => run.perSecond / other[at]!.perSecond)),
      ...(atLeast?.[kind] !== undefined && { target: { of: 'ratio', atLeast: atLeast[kind] } }),
    }),
  ];
}

function latencyFigures(kind: string, runs: Runs): Figure[] {
  const atMost = maxP99[kind];
  const own = runs.get(names.distributed);
  if (atMost === undefined || own === undefined) return [];
  const target: Target = { of: 'measured', atMost };
  const measured = median(own.map(({ p99 }) => p99));
  return [figure({ name: `${kind}, ${names.distributed}, p99`, measured, unit: 'ms', target })];
}

function rowOf(kind: string, runs: Runs, { name, processes }: PeerSide, figures: Figure[]): string[] {
  const own = runs.get(name)!;
  const of = (value: (run: Run) => number) => median(own.map(value));
  const cpu = processes.map(
    (process, at) => `${process} ${of((run) => run.cpuMicrosecondsEach?.[at] ?? Number.NaN).toFixed(0)}`,
  );
  const ofSide = figures.filter((each) => each.name.startsWith(`${kind}, ${name}, `));
  return [
    `${kind}, ${name}`,
    of(({ perSecond }) => perSecond).toFixed(0),
    of(({ p50 }) => p50).toFixed(1),
    of(({ p99 }) => p99).toFixed(1),
    cpu.join(', '),
    ofSide.map(withTarget).join('; '),
    ofSide.map((each) => verdictOf(each) || '–').join('; '),
  ];
}

const withTarget = (each: Figure): string =>
  each.ratio === undefined
    ? `p99 ${describeTarget(each)}`
    : `${each.ratio.toFixed(2)} (${describeTarget(each) || `× ${each.peer?.name}`})`;

/** Memory in MiB of `npm start` with all its processes. */
export interface StandaloneMemory extends Memory {
  /** Resident memory of the service and its Postgres. */
  withoutNpm: number;
}

/** Memory in MiB and times in ms of `npm start`. */
interface StandaloneFigures {
  atRest: StandaloneMemory;
  underLoad: StandaloneMemory;
  ready: Ready;
  readyWithoutNpm: Ready;
}

/** Reports the memory of the standalone service and how fast it starts. */
export function reportOfStandalone(measured: StandaloneFigures): Report {
  const { atRest, underLoad, ready, readyWithoutNpm } = measured;
  const [memory, time] = [limitedFigure('MiB'), limitedFigure('ms')];
  const figures = [
    memory('memory at rest', atRest.resident, 250),
    memory('memory at rest, without npm', atRest.withoutNpm),
    memory('memory at rest, shared pages once', atRest.proportional, 250),
    memory('memory under load', underLoad.resident, 400),
    memory('memory under load, without npm', underLoad.withoutNpm),
    memory('memory under load, shared pages once', underLoad.proportional, 400),
    time('npm start until ready, on an empty folder', ready.first),
    time('npm start until ready, on its data', median(ready.again), 1_000),
    time('the same without npm', median(readyWithoutNpm.again), 1_000),
  ];
  return {
    title: 'The standalone service: memory and start',
    columns: ['', 'measured', 'unit', 'target', 'met'],
    rows: figures.map((each) => [
      each.name,
      each.measured.toFixed(0),
      each.unit,
      describeTarget(each),
      verdictOf(each),
    ]),
    notes: standaloneNotes,
    measured,
    figures,
  };
}

const limitedFigure = (unit: string) => (name: string, measured: number, atMost?: number) =>
  figure({
    name,
    measured,
    unit,
    ...(atMost === undefined ? {} : { target: { of: 'measured', atMost } }),
  });

const standaloneNotes = [
  'memory: resident, of npm, the service and its Postgres, whose processes share pages that are counted for each of them',
  'at rest: 10 s after the last start; under load: the maximum during the loads above',
  'ready: sys/health responds with 200; on its data: median of 3 starts',
];
