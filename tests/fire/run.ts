import { Campaign, type FireOptions, type FireReport } from './campaign.ts';

/** Disturbs a system under load, round by round, until a round ends with a violation or all faults were caused. */
export const runUnderFire = (options: FireOptions): Promise<FireReport> =>
  Campaign.run(options, async (campaign) => {
    const { faultsPerRound } = options;
    const { schedule } = campaign;
    for (let first = 0; first < schedule.length && !campaign.isOver; first += faultsPerRound) {
      await campaign.disturb(schedule.slice(first, first + faultsPerRound));
      await campaign.check();
    }
  });
