import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres } from '../../../libs/db/src/index.ts';
import type { ScheduledFault } from '../schedule/fault.ts';
import { Campaign, type FireOptions, type FireReport } from './campaign.ts';

const jumpHours = 1;
/** Long enough for claims, pauses and refilled budgets. */
const aheadMs = 6_000;
/** Tables of syncing whose times are compared with the clock. */
const tables = [
  'clock',
  'lanes',
  'destination_health',
  'destinations',
  'associations',
  'entries',
  'workers',
  'reconciliation',
  'removal_brakes',
  'destination_checks',
];

/**
 * Disturbs a system under load; in each round, the clock of the database jumps an hour ahead, and back. The system must
 * settle as quickly as otherwise.
 */
export const jumpUnderFire = (options: FireOptions): Promise<FireReport> =>
  Campaign.run(options, async (campaign) => {
    const { schedule } = campaign;
    const { faultsPerRound } = options;
    for (let first = 0; first < schedule.length && !campaign.isOver; first += faultsPerRound) {
      const round = schedule.slice(first, first + faultsPerRound);
      await campaign.disturb(round, { meanwhile: () => jump(campaign, round) });
      await campaign.check();
    }
  });

async function jump(campaign: Campaign, round: readonly ScheduledFault[]): Promise<void> {
  const { injector, stage } = campaign;
  const { postgres, processes } = stage.system;
  await sleep(round[Math.floor(round.length / 2)]!.atMs - round[0]!.atMs);
  const from = Date.now();
  await injector.exclusively('postgres', async () => {
    campaign.log(`     the clock of PostgreSQL jumps ahead, and back after ${aheadMs} ms`);
    await untilMoved(postgres.url, -jumpHours);
    await sleep(aheadMs);
    await untilMoved(postgres.url, jumpHours);
  });
  // Every lease ends when the clock jumps ahead, so another worker may work on the same entries meanwhile.
  for (const process of Object.keys(processes)) injector.standstills.push({ process, from, to: Date.now() });
}

/** Repeats what a transaction of a stopped process, or a deadlock, has prevented. */
async function untilMoved(url: string, hours: number): Promise<void> {
  for (;;) {
    try {
      return await moveTimes(url, hours);
    } catch (error) {
      if (!['55P03', '40P01'].includes((error as { code: string }).code)) throw error;
    }
  }
}

/**
 * Moves every stored time, which looks to statements as if the clock had jumped the other way. After both jumps, only
 * the times that were written in between lie ahead.
 */
async function moveTimes(url: string, hours: number): Promise<void> {
  const db = openPostgres({ url, connections: 1 });
  try {
    const columns = await db.query<{ table: string; column: string }>(
      `select table_name as "table", column_name as "column" from information_schema.columns
        where table_schema = 'sync' and data_type = 'timestamp with time zone' and table_name = any($1)`,
      [tables],
    );
    await db.transaction(async (tx) => {
      await tx.query(`lock table ${tables.map((table) => `sync.${table}`).join()} in exclusive mode`);
      for (const [table, all] of Map.groupBy(columns, (one) => one.table)) {
        const moved = all.map(({ column }) => `${column} = ${column} + interval '${hours} hours'`);
        await tx.query(`update sync.${table} set ${moved.join()}`);
      }
    });
  } finally {
    await db.close();
  }
}
