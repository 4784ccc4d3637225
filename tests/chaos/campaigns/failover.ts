import { setTimeout as sleep } from 'node:timers/promises';
import { type LostCommits, survived } from '../check/histories/lost-commits.ts';
import { drawOf, tokenRequests } from '../load/clients.ts';
import { existingDestinations } from '../load/world.ts';
import type { ScheduledFault } from '../schedule/fault.ts';
import { Campaign, type FireOptions, type FireReport } from './campaign.ts';

export interface FailoverOptions extends FireOptions {
  /** For how long commits do not reach the standby before the primary is killed. */
  lostMs: number;
}

/** Number of the faults that are caused while the standby is promoted. */
const duringFailover = 6;
/** Maximum lag of the standby before replication is held, on a busy machine. */
const lagMs = 1_000;
/** Number of tokens revoked after the failover; more than are revoked while commits are lost. */
const revokedAfterwards = 40;
const revokedInVain = 3;

/**
 * Disturbs a system whose database has an asynchronous standby; after half of the faults, promotes the standby, which
 * lacks the last commits, while load and faults continue. What was acknowledged before these commits must be there, and
 * the system must converge.
 */
export const failOverUnderFire = (options: FailoverOptions): Promise<FireReport> =>
  Campaign.run(
    // Work whose message was acknowledged in a commit that is lost has no message any more.
    { ...options, repairsLosses: true, withStandby: 'asynchronous' },
    async (campaign) => {
      const { schedule } = campaign;
      const half = Math.ceil(schedule.length / 2);
      const before = schedule.slice(0, half - duringFailover);
      await campaign.disturbInRounds(before);
      if (campaign.isOver) return;
      await failOver(campaign, schedule.slice(before.length, half), options.lostMs);
      if (!campaign.isOver) await campaign.disturbInRounds(schedule.slice(half));
    },
  );

async function failOver(
  campaign: Campaign,
  schedule: readonly ScheduledFault[],
  lostMs: number,
): Promise<void> {
  const { injector, load } = campaign;
  const { history } = load.recorder;
  let lost: LostCommits | undefined;
  await campaign.disturb(schedule, {
    // What a lost set or purge has left in a store belongs to no association any more: only an operator can tell that
    // it is not wanted.
    load: 'secrets and tokens',
    meanwhile: async () => {
      await sleep(schedule[Math.floor(schedule.length / 2)]!.atMs - schedule[0]!.atMs);
      lost = await injector.exclusively('postgres', () => promote(campaign, lostMs));
    },
  });
  history.splice(0, history.length, ...survived(history, lost!));
  await setAllAgain(campaign);
  await campaign.check();
}

/**
 * Loses the newest commits, and promotes the standby. A gateway and the workers of a host have seen these commits, and
 * run again when others have been made in their place: revocations, and claims of the same entries.
 */
async function promote(campaign: Campaign, lostMs: number): Promise<LostCommits> {
  const { injector, load, world } = campaign;
  const { postgres, processes } = campaign.stage.system;
  const gateway = world.gateways[0]!;
  const requests = tokenRequests(load.shared, {
    ...{ client: 'failover', gateway: () => gateway },
    draw: drawOf(1),
  });
  const tokens = await Promise.all(
    Array.from({ length: revokedInVain + revokedAfterwards }, () => requests.logIn()),
  ).then((all) => all.filter((token) => token !== undefined));
  for (const token of tokens) await requests.use(token);
  await sleep(lagMs);

  const beganAt = Date.now();
  const from = performance.now() - lagMs;
  postgres.pair!.holdReplication();
  const revoked = tokens.splice(0, revokedInVain);
  for (const token of revoked) await requests.revoke(token, { bySelf: false });
  for (const token of revoked) await requests.use(token);
  await sleep(Math.max(0, lostMs - (Date.now() - beganAt)));
  await postgres.pair!.primary.stop('SIGKILL');
  const until = performance.now();
  await injector.stopDuring(['gateway-2', ...secondWorkers(campaign)], async () => {
    await postgres.failOver!();
    campaign.log(`     promoted ${Date.now() - beganAt} ms after the first commit that is lost`);
    for (const token of tokens) await requests.revoke(token, { bySelf: false });
  });
  // The claims of the last seconds are lost, so another worker may work on the same entries while their calls are in
  // progress.
  for (const process of Object.keys(processes))
    injector.standstills.push({ process, from: beganAt, to: Date.now() });
  for (const token of tokens) await requests.use(token);
  return { from, until };
}

const secondWorkers = ({ stage }: Campaign): string[] =>
  Object.keys(stage.system.processes).filter((name) => /worker.*-[23]$/.test(name));

/**
 * Sets all associations again, which docs/operations/running.md#after-a-failover-that-lost-commits tells operators to
 * do.
 */
async function setAllAgain({ world }: Campaign): Promise<void> {
  for (const { path, type } of await existingDestinations(world)) {
    const { body } = await world.apiUnlessGone('GET', `${path}/associations`);
    const associated = Object.values<Record<string, string>>(body.data?.associated_secrets ?? {});
    for (const { mount, secret_name } of associated)
      await world.apiUnlessGone('POST', `${path}/associations/set?wait=0`, {
        ...{ mount, secret_name },
        overwrite: type === 'codehost',
      });
  }
}
