import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres } from '../../../libs/db/src/index.ts';
import { aheadMs, jumpClock } from '../../harness/jump-clock.ts';
import type { ScheduledFault } from '../schedule/fault.ts';
import { Campaign, type FireOptions, type FireReport } from './campaign.ts';

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
    const db = openPostgres({ url: postgres.url, connections: 1 });
    await jumpClock(db).finally(() => db.close());
  });
  // Every lease ends when the clock jumps ahead, so another worker may work on the same entries meanwhile.
  for (const process of Object.keys(processes)) injector.standstills.push({ process, from, to: Date.now() });
}
