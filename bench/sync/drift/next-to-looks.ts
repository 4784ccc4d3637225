import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchOptions } from '../../command-line.ts';
import { quantile } from '../../load/statistics.ts';
import { figure } from '../../output/figure.ts';
import type { Report } from '../../output/report.ts';
import { aloneRow, delayColumns, delayRow, describeDelays } from '../../scheduling/delay-table.ts';
import { openQuiet } from '../../scheduling/quiet-destination.ts';
import { destination, mount, newValue, type SyncSetup, withSyncSetup } from '../sync-setup.ts';
import { untilLookedAt } from './looked-at.ts';

const type = 'cloudA-sm';
const writesPerTurn = 100;
const defaultEntries = 100_000;
const maxRatio = 1.5;
const alone = 'alone';

/** Measures the delay of a write to a destination, alone and while everything in that destination is looked at. */
export const benchNextToLooks = (options: BenchOptions): Promise<Report[]> =>
  withSyncSetup(options, { hasBudget: true }, async (setup) => {
    const entries = options.entries ?? defaultEntries;
    const quiet = await openQuiet(
      { ...setup, api: setup.product.api },
      options.rounds * (2 * writesPerTurn + 10),
    );
    await addUnchanged(setup, entries);
    const delays = { alone: [] as number[], looking: [] as number[] };
    const rates: number[] = [];
    const turn = async (name: keyof typeof delays) => {
      await setup.database.query('checkpoint'); // otherwise, single commits wait for what the disk still writes
      const measured = await quiet.delays(writesPerTurn);
      delays[name].push(...measured);
      options.log(describeDelays(name, measured));
    };
    for (let round = 0; round < options.rounds; round += 1) {
      await quiet.settle();
      await turn(alone);
      await setup.product.api('POST', `${destination}/inspect`);
      rates.push(await looksPerSecond(setup, () => turn('looking')));
      options.log(`${rates.at(-1)!.toFixed(1)} looks per second meanwhile`);
      await endLooks(setup);
    }
    return [reportOf(delays, rates, entries)];
  });

/**
 * Adds entries to the destination that were pushed an hour ago and are as that has left them: copies of one that the API has set,
 * all with the external secret of that one, because pushing 100,000 takes minutes.
 */
async function addUnchanged({ product, database }: SyncSetup, count: number): Promise<void> {
  const secret = { mount, secret_name: 'looked-at' };
  await product.api('POST', `${mount}/data/${secret.secret_name}`, newValue());
  await product.api('POST', `${destination}/associations/set`, secret);
  await database.query(
    `with original as (
       select e.*, a.namespace_id, a.mount_id, a.mount, a.accessor, a.secret_id, a.secret_name, a.planned_revision
         from sync.entries e join sync.associations a on a.id = e.association_id where a.secret_name = $1
     ), copies as (
       insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
       select destination_id, namespace_id, mount_id, mount, accessor, gen_random_uuid(), secret_name || '/' || n, planned_revision
         from original, generate_series(1, $2::int) as n returning id, secret_name
     )
     insert into sync.entries (association_id, destination_id, destination_type, sub_key, external_name, collision_key, status, due_at,
                               generation, applied_generation, pushed_hash, settings_hash, remote, synced_at, drift)
     select c.id, o.destination_id, o.destination_type, o.sub_key, o.external_name, c.secret_name, 'SYNCED', null,
            o.generation, o.applied_generation, o.pushed_hash, o.settings_hash, o.remote, now() - interval '1 hour', 'none'
       from original o, copies c`,
    [secret.secret_name, count],
  );
  await database.query('vacuum (analyze) sync.entries, sync.associations'); // as autovacuum does later
}

async function looksPerSecond({ database }: SyncSetup, work: () => Promise<void>): Promise<number> {
  const { rows: began } = await database.query<{ at: string }>('select clock_timestamp()::text as at');
  await work();
  const { rows } = await database.query<{ rate: number }>(
    `select count(*) / extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as rate from sync.entries where looked_at >= $1::timestamptz`,
    [began[0]!.at],
  );
  const { rate } = rows[0]!;
  if (rate === 0) throw new Error('nothing was looked at meanwhile');
  return rate;
}

/** Ends the looks, and waits for those in progress. */
async function endLooks(setup: SyncSetup): Promise<void> {
  await setup.database.query(
    `update sync.inspections set requested_at = null, due_at = null, page_id = null`,
  );
  await untilLookedAt(setup, type);
  await sleep(2_000);
}

function reportOf(
  delays: { alone: number[]; looking: number[] },
  rates: readonly number[],
  entries: number,
): Report {
  const judged = figure({
    name: 'while it is looked at: p99',
    measured: quantile(delays.looking, 0.99),
    unit: 'ms',
    peer: { name: alone, measured: quantile(delays.alone, 0.99) },
    target: { of: 'ratio', atMost: maxRatio },
  });
  const rate = rates.reduce((sum, each) => sum + each, 0) / rates.length;
  return {
    title: `Delay of a write to a destination, while ${entries} entries of it are looked at`,
    columns: delayColumns,
    rows: [
      aloneRow(alone, delays.alone),
      delayRow('while it is looked at', delays.looking, delays.alone, judged),
    ],
    notes: [
      `delay: from the response to a write until its call of the store; ${writesPerTurn} writes in each turn, about 50 ms apart`,
      `looks: requested for everything in the destination, ${rate.toFixed(0)} per second meanwhile; budget of the account as in production`,
    ],
    measured: { delays, rates },
    figures: [judged],
  };
}
