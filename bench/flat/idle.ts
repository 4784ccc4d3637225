import { setTimeout as sleep } from 'node:timers/promises';
import { destinationTypes } from '@secrets/destinations';
import { eventually } from '@secrets/testing';
import type { BenchOptions } from '../command-line.ts';
import type { Figure } from '../figure.ts';
import { cpuMicroseconds } from '../load/cpu-time.ts';
import { memoryOf, treeOf } from '../load/process-tree.ts';
import type { Report } from '../report.ts';
import { type BySize, growthColumns, growthFigure, growthRow } from './growth.ts';
import { type SizedProduct, sizes, withSizedProducts } from './sized-products.ts';

const idleSeconds = 60;
const starts = 3;
/** What the services do after their start has ended by then. */
const settleMs = 15_000;

/** The costs of each service by its name. */
type ByService = Map<string, BySize>;

/** Measures what each service uses while nothing happens, and how fast it starts, with few and with many associations. */
export const benchIdle = (options: BenchOptions): Promise<Report[]> =>
  withSizedProducts(options, { types: Object.keys(destinationTypes) }, async (products) => {
    await sleep(settleMs);
    options.log(`measuring for ${idleSeconds} s`);
    const { cpu, memory } = await whileIdle(products);
    for (const [service, bySize] of cpu)
      options.log(
        `${service}: CPU ${[...bySize.values()]
          .flat()
          .map((each) => each.toFixed(2))
          .join(', ')} ms/s`,
      );
    const start: ByService = new Map();
    for (let round = 0; round < starts; round += 1) {
      await restartAll(products, start);
      options.log(`restart ${round + 1} of ${starts}`);
    }
    return [
      reportOf(`CPU while nothing happens, with 1,000 to 1,000,000 associations`, 'ms/s', cpu, 2),
      reportOf('Memory while nothing happens, with 1,000 to 1,000,000 associations', 'MiB', memory, 0),
      reportOf('Start with 1,000 to 1,000,000 associations', 'ms', start, 0),
    ];
  });

async function whileIdle(products: SizedProduct[]): Promise<{ cpu: ByService; memory: ByService }> {
  const cpu: ByService = new Map();
  const memory: ByService = new Map();
  const before = products.map(usedCpu);
  await sleep(idleSeconds * 1_000);
  for (const [at, sized] of products.entries()) {
    const used = usedCpu(sized);
    for (const [index, { service, program }] of sized.product.programs.entries()) {
      const milliseconds = (used[index]! - before[at]![index]!) / 1_000;
      add(cpu, service, sized.associations, milliseconds / idleSeconds);
      add(memory, service, sized.associations, memoryOf(treeOf(program.pid)).resident);
    }
  }
  return { cpu, memory };
}

const usedCpu = ({ product }: SizedProduct): number[] => {
  const used = cpuMicroseconds(product.programs.map(({ program }) => program.pid));
  if (used === undefined) throw new Error('this system does not report the CPU time of processes');
  return used;
};

/** Restarts every service of every product, one at a time, and adds how long it took until it was ready. */
async function restartAll(products: SizedProduct[], start: ByService): Promise<void> {
  for (const at of products[0]!.product.programs.keys())
    for (const { associations, product } of products) {
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

function reportOf(title: string, unit: string, costs: ByService, digits: number): Report {
  const figures: Figure[] = [];
  const rows = [...costs].map(([service, bySize]) => {
    const grown = growthFigure(service, unit, bySize);
    figures.push(grown);
    return growthRow(grown, bySize, digits);
  });
  const measured = Object.fromEntries([...costs].map(([name, bySize]) => [name, Object.fromEntries(bySize)]));
  return { title, columns: growthColumns(sizes), rows, notes, measured, figures };
}

const notes = [
  `over ${idleSeconds} s, ${settleMs / 1_000} s after the last service had started; every service is a process, and the three sizes run at the same time, on databases of their own`,
  `start: from the start of the process until it is ready; median of ${starts}`,
];
