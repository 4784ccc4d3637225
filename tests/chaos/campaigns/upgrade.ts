import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { workers } from '../../../services/setup/src/database-roles.ts';
import { sourceOfRevision } from '../bugs/source-of-revision.ts';
import { Campaign, type FireOptions, type FireReport } from './campaign.ts';

/** In the order of docs/operations/running.md#upgrading. */
const order = ['login', 'secrets', 'sync-control', 'gateway', ...workers];

/**
 * Starts the services of an older revision, and replaces them one after the other by those of this version, under load
 * and faults. Returns the reason if the revision cannot be had.
 */
export async function upgradeUnderFire(
  revision: string | undefined,
  options: FireOptions,
): Promise<FireReport | string> {
  const source = sourceOfRevision(revision);
  if (typeof source === 'string') return source;
  try {
    return await upgradeFrom(source, options);
  } finally {
    source.remove();
  }
}

/** Upgrades from an older revision that is already in a folder, which is left there. */
export function upgradeFrom(
  { folder: sourceRoot, revision }: { folder: string; revision: string },
  options: FireOptions,
): Promise<FireReport> {
  options.log(`upgrade from ${revision}`);
  return Campaign.run({ ...options, sourceRoot, policies: ['report'] }, async (campaign) => {
    await campaign.disturb(campaign.schedule, { meanwhile: () => replaceAll(campaign) });
    await campaign.check();
  });
}

async function replaceAll(campaign: Campaign): Promise<void> {
  const { injector, schedule } = campaign;
  const processes = Object.values(campaign.stage.system.processes);
  const pauseMs = (schedule.at(-1)?.atMs ?? 0) / (processes.length + 2);
  for (const service of order)
    for (const process of processes.filter((one) => one.service === service)) {
      await sleep(pauseMs);
      await injector.replace(process, join('services', service, 'src/main.ts'));
      campaign.log(`     ${process.name} upgraded`);
    }
}
