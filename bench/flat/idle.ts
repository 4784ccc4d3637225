import { setTimeout as sleep } from 'node:timers/promises';
import { destinationTypes } from '@secrets/destinations';
import { eventually } from '@secrets/testing';
import type { BenchOptions } from '../command-line.ts';
import { cpuMicroseconds } from '../load/cpu-time.ts';
import { memoryOf, treeOf } from '../load/process-tree.ts';
import { median } from '../load/statistics.ts';
import type { Figure } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { type BySize, growthFigure, maxGrowth } from './growth.ts';
import { type SizedProduct, sizes, withSizedProducts } from './sized-products.ts';

const rounds = 4;
const idleSeconds = 60;
/** Milliseconds after which the services have finished the work that follows their start. */
const settleMs = 15_000;

/** The costs of each service by its name. */
type ByService = Map<string, BySize>;

/** Unit and decimals of each cost. */
const kinds = {
  CPU: { unit: 'ms/s', digits: 2 },
  memory: { unit: 'MiB', digits: 0 },
  start: { unit: 'ms', digits: 0 },
} as const;
type Costs = Record<keyof typeof kinds, ByService>;

/** Measures what each service uses while nothing happens, and how fast it starts, with few and with many associations. */
export const benchIdle = (options: BenchOptions): Promise<Report[]> =>
  withSizedProducts(options, { types: Object.keys(destinationTypes) }, async (products) => {
    const costs: Costs = { CPU: new Map(), memory: new Map(), start: new Map() };
    for (let round = 0; round < rounds; round += 1) {
      await restartAll(products, costs.start, round);
      await sleep(settleMs);
      await addCpu(products, costs.CPU);
      addMemory(products, costs.memory);
      options.log(`round ${round + 1} of ${rounds}`);
    }
    return [reportOf(costs)];
  });

/** Waits for the time of measurement, and adds the CPU time that every service of every product used in it. */
async function addCpu(products: SizedProduct[], cpu: ByService): Promise<void> {
  const before = products.map(usedCpu);
  await sleep(idleSeconds * 1_000);
  for (const [at, sized] of products.entries()) {
    const used = usedCpu(sized);
    for (const [index, { service }] of sized.product.programs.entries()) {
      const milliseconds = (used[index]! - before[at]![index]!) / 1_000;
      add(cpu, service, sized.associations, milliseconds / idleSeconds);
    }
  }
}

/** Adds the resident memory of every service of every product. */
function addMemory(products: SizedProduct[], memory: ByService): void {
  for (const { associations, product } of products)
    for (const { service, program } of product.programs)
      add(memory, service, associations, memoryOf(treeOf(program.pid)).resident);
}

const usedCpu = ({ product }: SizedProduct): number[] => {
  const used = cpuMicroseconds(product.programs.map(({ program }) => program.pid));
  if (used === undefined) throw new Error('this system does not report the CPU time of processes');
  return used;
};

/**
 * Restarts every service of every product, one at a time, and adds how long it took until it was ready. Each round
 * begins with another size.
 */
async function restartAll(products: SizedProduct[], start: ByService, round: number): Promise<void> {
  const begin = round % products.length;
  const order = [...products.slice(begin), ...products.slice(0, begin)];
  for (const at of products[0]!.product.programs.keys())
    for (const { associations, product } of order) {
      const { service, program } = product.programs[at]!;
      const path = service === 'gateway' ? '/v1/sys/health' : '/readyz';
      let ready: Promise<number> | undefined;
      // A service that is asked to stop still serves for a while.
      await program.restart('SIGKILL', () => {
        ready = readyAfter(`${program.url}${path}`);
      });
      add(start, service, associations, await ready!);
    }
}

/** Resolves with the milliseconds until a URL responds with 200. */
async function readyAfter(url: string): Promise<number> {
  const began = performance.now();
  await eventually(async () => (await fetch(url)).status === 200, { intervalMs: 5 });
  return performance.now() - began;
}

function add(costs: ByService, service: string, size: number, cost: number): void {
  const bySize: BySize = costs.get(service) ?? new Map(sizes.map((each) => [each, []]));
  bySize.get(size)!.push(cost);
  costs.set(service, bySize);
}

/** Reports a row for each service: its costs at each size, and how much they grow. */
function reportOf(costs: Costs): Report {
  const names = Object.keys(kinds) as (keyof Costs)[];
  const ofServices = [...costs.CPU.keys()].map((service) => ({
    service,
    figures: names.map((kind) =>
      growthFigure(`${kind} of ${service}`, kinds[kind].unit, costs[kind].get(service)!),
    ),
  }));
  const cellsOf = (kind: keyof Costs, service: string, { ratio }: Figure) => [
    [...costs[kind].get(service)!.values()].map((of) => median(of).toFixed(kinds[kind].digits)).join(', '),
    ratio!.toFixed(2),
  ];
  return {
    title: `Idle services with ${sizes.map((size) => size.toLocaleString('en-US')).join(', ')} associations`,
    columns: ['', ...names.flatMap((kind) => [`${kind}, ${kinds[kind].unit}`, 'ratio']), 'met'],
    rows: ofServices.map(({ service, figures }) => [
      service,
      ...figures.flatMap((each, at) => cellsOf(names[at]!, service, each)),
      figures.every(({ met }) => met) ? 'yes' : 'NO',
    ]),
    notes,
    measured: names.map((kind) =>
      Object.fromEntries([...costs[kind]].map(([service, bySize]) => [service, Object.fromEntries(bySize)])),
    ),
    figures: ofServices.flatMap(({ figures }) => figures),
  };
}

const notes = [
  `ratio: of the largest size to the smallest; target at most ${maxGrowth}`,
  `median of ${rounds} rounds; every service is a process, and the three sizes run at the same time, on databases of their own`,
  `start: until the process is ready, one at a time; CPU: over ${idleSeconds} s, ${settleMs / 1_000} s after the last start; memory: resident, at their end`,
];
