import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgres } from '../../../../libs/db/src/index.ts';
import { type LostCommits, survived } from '../../check/histories/lost-commits.ts';
import { existingDestinations, hotKeys, mount } from '../../load/world.ts';
import { finalVersions, type Violations } from '../../observer/check-history.ts';
import { Campaign, type FireReport } from '../campaign.ts';
import type { FailoverOptions } from '../failover.ts';
import { checkStandby } from './check-standby.ts';
import {
  type Contents,
  contentsOf,
  createForeignSecrets,
  differencesOf,
  foreignIn,
} from './foreign-secrets.ts';
import { countLost, findLostSets, type Loss, type LostSet, logPosition } from './measure-loss.ts';

export interface RegionOptions extends FailoverOptions {
  /** Minutes for which sync-control seems to have been away when the standby is promoted; from 15 on, syncing is held. */
  awayMinutes: number;
  /** Whether the services of the other region run already, and wait for its database; then syncing is not held. */
  isWarm: boolean;
}

/** The cost of losing a region. Times are seconds from its end on. */
export interface Recovery {
  loss: Loss;
  promoted: number;
  /** Every service of the other region is ready. */
  ready: number;
  /** A write was acknowledged. */
  written: number;
  /** Each external secret is as the database wants it. */
  converged: number;
}

/** Load before the loss, in milliseconds. */
const loadMs = 8_000;
/** Maximum lag of the standby before replication is held, on a busy machine. */
const lagMs = 1_000;
const holdsFromMinutes = 15;

/**
 * Disturbs a system; then its region is lost: the primary of PostgreSQL, whose last commits its standby lacks, RabbitMQ with all
 * messages, and every process. The standby is promoted, and the services are started on it and on an empty RabbitMQ, as
 * docs/operations/standby-region.md says. The system must converge, and not touch what is not its own.
 */
export async function loseRegion(options: RegionOptions): Promise<FireReport & { recovery?: Recovery }> {
  let recovery: Recovery | undefined;
  const report = await Campaign.run(
    { ...options, repairsLosses: true, withStandby: 'asynchronous' },
    async (campaign) => {
      const half = Math.ceil(campaign.schedule.length / 2);
      await campaign.disturbInRounds(campaign.schedule.slice(0, half));
      if (campaign.isOver) return;
      recovery = await loseAndRecover(campaign, options);
      if (!campaign.isOver) await campaign.disturbInRounds(campaign.schedule.slice(half));
    },
  );
  return recovery === undefined ? report : { ...report, recovery };
}

/** The end of a region. */
interface Disaster {
  window: LostCommits;
  /** When it was over, in milliseconds since 1970. */
  at: number;
  loss: Pick<Loss, 'seconds' | 'transactions' | 'logKibibytes'>;
  /** The content of the stores at that time. */
  contents: Contents;
  /** The empty RabbitMQ of the other region. */
  broker: Promise<void>;
}

async function loseAndRecover(campaign: Campaign, options: RegionOptions): Promise<Recovery> {
  const { load, world } = campaign;
  const { history } = load.recorder;
  await createForeignSecrets(world);
  campaign.log(`     ${await checkStandby(campaign)}`);
  let disaster: Disaster | undefined;
  await campaign.disturb([], {
    load: 'without operator',
    meanwhile: async () => {
      await sleep(loadMs);
      disaster = await endRegion(campaign, options.lostMs);
    },
  });
  const { window, at, loss, contents, broker } = disaster!;
  const since = () => (Date.now() - at) / 1_000;
  const awayMinutes = options.isWarm ? 0 : options.awayMinutes;
  const warm = options.isWarm ? await startBefore(campaign) : undefined;
  await promote(campaign, awayMinutes);
  const promoted = since();
  campaign.log(`     ${await checkStandby(campaign)}`);
  await Promise.all([broker, warm?.ready ?? startServices(campaign)]);
  const ready = since();
  await writeOnce(campaign);
  const written = since();
  const lostSets = await findLostSets(world, history, window);
  const counts = countLost(history, window, { versions: await finalVersions(world), lostSets });
  history.splice(0, history.length, ...survived(history, window));
  const violations: Violations = {
    'sent while held': await confirm(campaign, { contents, isHeld: awayMinutes > holdsFromMinutes }),
  };
  await compareEverything(campaign);
  await setAgain(campaign, lostSets);
  await campaign.settle();
  const converged = since();
  violations['secrets of others'] = differencesOf(foreignIn(contents), foreignIn(await contentsOf(world)));
  await campaign.check(history, violations);
  return { loss: { ...loss, ...counts }, promoted, ready, written, converged };
}

/** Ends everything in the region at once. The standby lacks the commits of the last `lostMs`. */
async function endRegion(campaign: Campaign, lostMs: number): Promise<Disaster> {
  const { stage, injector } = campaign;
  const { postgres, rabbit } = stage.system;
  const pair = postgres.pair!;
  const from = performance.now() - lagMs;
  const heldAt = Date.now();
  pair.holdReplication();
  await sleep(lostMs);
  const primary = await logPosition(pair.primary.url('postgres'));
  const at = Date.now();
  const until = performance.now();
  const broker = rabbit.restart('SIGKILL', (data) =>
    rmSync(join(data, 'data'), { recursive: true, force: true }),
  );
  await Promise.all([pair.primary.stop('SIGKILL'), ...servicesOf(campaign).map((process) => process.kill())]);
  const standby = await logPosition(pair.standby.url('postgres'));
  for (const { name } of servicesOf(campaign))
    injector.standstills.push({ process: name, from: heldAt, to: Date.now() });
  return {
    window: { from, until },
    at,
    loss: {
      seconds: (at - (standby.lastCommitAt ?? at)) / 1_000,
      transactions: primary.transactions - standby.transactions,
      logKibibytes: Math.round((primary.bytes - standby.bytes) / 1_024),
    },
    contents: await contentsOf(campaign.world),
    broker,
  };
}

const servicesOf = ({ stage }: Campaign) =>
  Object.values(stage.system.processes).filter(({ name }) => name !== 'sandbox');

/** Promotes the standby, and has its data look as if sync-control had been away for some time. */
async function promote({ stage }: Campaign, awayMinutes: number): Promise<void> {
  await stage.system.postgres.failOver!();
  const db = openPostgres({ url: stage.system.postgres.url, connections: 1 });
  await db
    .query('update sync.installation set alive_at = alive_at - make_interval(mins => $1)', [awayMinutes])
    .finally(() => db.close());
}

/** For how long services that were started on the standby must not become ready. */
const waitsMs = 5_000;

/**
 * Starts the services while the standby is not promoted yet.
 * @throws if one becomes ready
 */
async function startBefore(campaign: Campaign): Promise<{ ready: Promise<unknown> }> {
  campaign.stage.system.postgres.pair!.switchAddress();
  const ready = startServices(campaign);
  const first = await Promise.race([ready, sleep(waitsMs, 'waiting')]);
  if (first !== 'waiting') throw new Error('services use a standby that is not promoted');
  return { ready };
}

const startServices = (campaign: Campaign): Promise<unknown> =>
  Promise.all(servicesOf(campaign).map((process) => process.start()));

/** Repeats a write until it is acknowledged. */
async function writeOnce({ load, world }: Campaign): Promise<void> {
  const { canary, rootToken, gateways } = world;
  const [key, gateway] = [hotKeys[0]!, gateways[0]!];
  for (let attempt = 0; ; attempt += 1) {
    const value = `${canary}-region-${attempt}`;
    const { outcome } = await load.recorder.run(
      { act: 'write', key, value },
      {
        ...{ client: 'region', gateway, token: rootToken, method: 'POST', path: `${mount}/data/${key}` },
        body: { data: { value } },
        learn: ({ body }) => ({ version: body.data.version }),
      },
    );
    if (outcome === 'ok') return;
    await sleep(100);
  }
}

/** Confirms the installation if syncing is held. Returns what was sent to stores before. */
async function confirm(
  campaign: Campaign,
  { contents, isHeld }: { contents: Contents; isHeld: boolean },
): Promise<string[]> {
  const { api } = campaign.world;
  const { body } = await api('GET', 'sys/sync/status');
  const reason: string | null = body.data.held_because ?? null;
  if ((reason === 'recovery') !== isHeld) return [`syncing is held because of ${reason}`];
  if (!isHeld) return [];
  const sent = differencesOf(contents, await contentsOf(campaign.world));
  await api('POST', 'sys/sync/confirm-installation');
  return sent;
}

/** Follows docs/operations/running.md#after-a-failover-that-lost-commits. */
async function compareEverything({ world }: Campaign): Promise<void> {
  for (const { path, type } of await existingDestinations(world))
    await world.apiUnlessGone('POST', `${path}/retry`, { all: true, overwrite: type === 'codehost' });
}

/** Clients repeat what was lost: nothing else says whose the external secrets are that these associations have left. */
async function setAgain({ load, world }: Campaign, lostSets: readonly LostSet[]): Promise<void> {
  for (const { destination, key } of lostSets) {
    const { path, type } = world.changing.find(({ id }) => id === destination)!;
    await load.recorder.run(
      { act: 'set', destination, key },
      {
        ...{ client: 'region', gateway: world.gateways[0]!, token: world.rootToken, method: 'POST' },
        path: `${path}/associations/set?wait=0`,
        body: { mount, secret_name: key, overwrite: type === 'codehost' },
      },
    );
  }
}
