import { Campaign, type FireOptions, type FireReport } from './campaign.ts';

/** Disturbs a system under load, round by round, until a round ends with a violation or all faults were caused. */
export const runUnderFire = (options: FireOptions): Promise<FireReport> =>
  Campaign.run({ ...options, withRules: true }, (campaign) => campaign.disturbInRounds(campaign.schedule));
