import type { BenchOptions } from '../../command-line.ts';
import { median } from '../../load/statistics.ts';
import { figure } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import type { System } from '../../scheduling/busy-destination.ts';
import { aloneRow, delayColumns, delayRow, describeDelays } from '../../scheduling/delay-table.ts';
import { openQuiet } from '../../scheduling/quiet-destination.ts';
import { mount, type SyncSetup, withSyncSetup } from '../sync-setup.ts';
import { insertSecrets, writeRule } from './write-rule.ts';

const defaultEntries = 100_000;
const folder = 'existing';
const ruled = 'sys/sync/destinations/cloudA-sm/ruled';
const writesPerTurn = 100;
/** Writes after which the state of the run is looked at again. */
const writesAtOnce = 10;
const maxRatio = 1.5;

/** Measures the delay of a write to another destination, alone and while a rule associates existing secrets. */
export const benchNextToRules = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, { hasBudget: true }, async (setup) => {
    const entries = options.entries ?? defaultEntries;
    await setup.product.api('POST', ruled, { ...setup.fields, region: 'xx-rule-1' }); // another account
    await insertSecrets(setup, { mount, folder, count: entries });
    const system: System = { ...setup, api: setup.product.api };
    const quiet = await openQuiet(system, 6 * writesPerTurn);
    await quiet.delays(writesAtOnce); // code is compiled
    await quiet.settle();
    const alone = await quiet.delays(writesPerTurn);
    options.log(describeDelays('alone', alone));
    await writeRule(setup, ruled, { mount, folder });
    while ((await stateOf(setup)) === 'waiting') await quiet.delays(1); // also compiles the code of a run
    const meanwhile: number[] = [];
    while (meanwhile.length < 3 * writesPerTurn && (await stateOf(setup)) === 'running')
      meanwhile.push(...(await quiet.delays(writesAtOnce)));
    options.log(describeDelays('while a rule associates', meanwhile));
    return [reportOf({ alone, meanwhile }, entries)];
  });

async function stateOf({ database }: SyncSetup): Promise<'waiting' | 'running' | 'ended'> {
  const { rows } = await database.query<{ done: number; ended: boolean }>(
    'select matched_so_far as done, last_run_at is not null as ended from sync.rules',
  );
  const { done, ended } = rows[0]!;
  if (ended) return 'ended';
  return done === 0 ? 'waiting' : 'running';
}

function reportOf(delays: { alone: number[]; meanwhile: number[] }, entries: number): Report {
  const judged = figure({
    name: 'while a rule associates: p50',
    measured: median(delays.meanwhile),
    unit: 'ms',
    peer: { name: 'alone', measured: median(delays.alone) },
    target: { of: 'ratio', atMost: maxRatio },
  });
  return {
    title: `Delay of a write to another destination, while a rule associates ${entries} secrets`,
    columns: delayColumns,
    rows: [
      aloneRow('alone', delays.alone),
      delayRow('while a rule associates', delays.meanwhile, delays.alone, judged),
    ],
    notes: [
      `next to a rule: from the response to a write until its call of the store; ${delays.meanwhile.length} writes while the rule ran, about 50 ms apart; budget of the accounts as in production`,
    ],
    measured: delays,
    figures: [judged],
  };
}
