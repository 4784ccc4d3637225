import type { BenchOptions } from '../command-line.ts';
import { storeAddresses } from '../limits/stores/open-store.ts';
import { fieldsOf } from '../limits/stores/store-client.ts';
import { figure } from '../output/figure.ts';
import type { Report } from '../output/report.ts';
import { createDestination } from '../sync/sync-setup.ts';
import { startStandalone } from '../system/standalone.ts';
import { createBusyMount, queueByApi, type System } from './busy-destination.ts';
import { aloneRow, delayColumns, delayRow, describeDelays } from './delay-table.ts';
import { openQuiet } from './quiet-destination.ts';
import { startTrouble, type Trouble, troubles } from './trouble.ts';

const writes = 100;
const silent = 3;
const maxMs = 200;
const entriesOf = { slow: 3_000, reset: 1_500, silence: 50 } as const;

interface Delays {
  alone: number[];
  next: number[];
}

/**
 * Measures the delay of a write in the standalone service, alone and next to each kind of trouble, each in a new
 * installation.
 */
export async function benchStandalone(options: BenchOptions): Promise<Report[]> {
  const kinds = troubles({ silent });
  const measured: Delays[] = [];
  for (const kind of kinds) measured.push(await measure(options, kind));
  const alone = measured.flatMap((delays) => delays.alone);
  const figures = kinds.map(({ name }, at) =>
    figure({
      name: `${name}: slowest`,
      measured: Math.max(...measured[at]!.next),
      unit: 'ms',
      peer: { name: 'alone', measured: Math.max(...measured[at]!.alone) },
      target: { of: 'measured', atMost: maxMs },
    }),
  );
  const rows = kinds.map(({ name, fault: { effect } }, at) => {
    const { next, alone: before } = measured[at]!;
    const what = `${name}, ${entriesOf[effect]} entries${effect === 'silence' ? ' each' : ''}`;
    return delayRow(what, next, before, figures[at]!);
  });
  return [
    {
      title: 'Delay of a write in the standalone service',
      columns: delayColumns,
      rows: [aloneRow('alone', alone), ...rows],
      notes,
      measured: Object.fromEntries(kinds.map(({ name }, at) => [name, measured[at]])),
      figures,
    },
  ];
}

const notes = [
  'as npm start runs it, with the sandbox in the same process; a new installation for each row',
  `from the response to a write until its call of the store; ${writes} writes, about 50 ms apart; alone: the ${writes} writes before the trouble began`,
];

async function measure({ log, profiles }: BenchOptions, kind: Trouble): Promise<Delays> {
  const { api, sandbox, sandboxUrl, stop } = await startStandalone(profiles);
  try {
    const address = (await storeAddresses(sandboxUrl, sandbox)).get('cloudA-sm')!;
    const system: System = { api, sandbox, fields: fieldsOf(address) };
    await createDestination(system);
    await createBusyMount(api);
    const quiet = await openQuiet(system, 3 * writes);
    await quiet.settle();
    const alone = await quiet.delays(writes);
    const entries = entriesOf[kind.fault.effect];
    await startTrouble(system, kind, (destination) => queueByApi(api, destination, entries));
    const next = await quiet.delays(writes);
    log(describeDelays('alone', alone));
    log(describeDelays(kind.name, next));
    return { alone, next };
  } finally {
    await stop();
  }
}
