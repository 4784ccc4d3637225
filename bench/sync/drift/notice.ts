import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@secrets/testing';
import type { BenchOptions } from '../../command-line.ts';
import { median } from '../../load/statistics.ts';
import { figure, figureColumns, figureRow } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import { addFaultOf } from '../../scheduling/store-faults.ts';
import { type SyncSetup, withSyncSetup } from '../sync-setup.ts';
import { createMount, type LookedAt, pushKeys, untilLookedAt } from './looked-at.ts';

const callMs = 50;
/** A change of `codehost` within seconds after the push cannot be seen. */
const codehostSkewMs = 6_000;
const maxSeconds: Readonly<Record<string, number>> = { 'cloudA-sm': 5, codehost: 2 };

/** Measures how soon a look at everything in a destination finds a change that somebody has made by hand. */
export function benchNotice(options: BenchOptions): Promise<Report[]> {
  const types = Object.keys(maxSeconds);
  return withSyncSetup(options, { types }, async (setup) => {
    await createMount(setup);
    const seconds = new Map<string, number[]>();
    const all = await pushKeys(setup, types, options.secrets);
    await sleep(codehostSkewMs);
    for (const lookedAt of all) {
      const { type } = lookedAt;
      const endFault = await addFaultOf(setup.sandbox, { store: type, effect: 'slow', ms: callMs });
      seconds.set(type, await roundsOf(setup, lookedAt, options));
      await endFault();
    }
    return [reportOf(seconds, options.secrets)];
  });
}

async function roundsOf(
  setup: SyncSetup,
  lookedAt: LookedAt,
  { rounds, log }: BenchOptions,
): Promise<number[]> {
  const { type } = lookedAt;
  const measured: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const seconds = await noticed(setup, lookedAt, round);
    measured.push(seconds);
    log(`${type}: noticed after ${seconds.toFixed(2)} s`);
    await untilLookedAt(setup, type);
  }
  return measured;
}

/** Changes one of the entries that are looked at last, and returns the seconds from the request until it has drifted. */
async function noticed(
  { database, product, sandbox }: SyncSetup,
  { type, path }: LookedAt,
  fromEnd: number,
): Promise<number> {
  const { rows } = await database.query<{ id: string; name: string }>(
    `select id, external_name as name from sync.entries where destination_type = $1 order by collision_key desc offset $2 limit 1`,
    [type, fromEnd],
  );
  const { id, name } = rows[0]!;
  await sandbox('POST', 'secrets', { store: type, name, action: 'edit', value: 'theirs' });
  const beganAt = performance.now();
  await product.api('POST', `${path}/inspect`);
  await eventually(
    async () => {
      const found = await database.query('select from sync.entries where id = $1 and drift = $2', [
        id,
        'changed',
      ]);
      return found.rows.length === 1;
    },
    { timeoutMs: 120_000, intervalMs: 10 },
  );
  return (performance.now() - beganAt) / 1_000;
}

function reportOf(measured: Map<string, number[]>, secrets: number): Report {
  const figures = [...measured].map(([type, seconds]) =>
    figure({
      name: type,
      measured: median(seconds),
      unit: 's',
      target: { of: 'measured', atMost: maxSeconds[type]! },
    }),
  );
  return {
    title: `Seconds until a change by hand is noticed, of ${secrets} external secrets`,
    columns: [...figureColumns, 'max'],
    rows: figures.map((each) => [...figureRow(each, 2), Math.max(...measured.get(each.name)!).toFixed(2)]),
    notes: [
      `noticed: from the request to look at everything in the destination; each call of its store takes ${callMs} ms`,
      'noticed: the change is of one of those that are looked at last; no budget, one worker process with 16 slots',
    ],
    measured: Object.fromEntries(measured),
    figures,
  };
}
