import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { volumeSnapshot } from '../../outages/servers/volume-snapshot.ts';
import type { FinalVersions } from '../check/histories/versions.ts';
import { type Operation, ofKind } from '../load/operation.ts';
import { mount, stillAssociations } from '../load/world.ts';
import { finalVersions } from '../observer/check-history.ts';
import { Campaign, type FireOptions, type FireReport } from './campaign.ts';

/**
 * Takes a backup under load and faults, restores it after more of both, and continues with the load and the faults on
 * the restored system. It must have every write that was acknowledged before the backup, and converge.
 */
export async function restoreUnderFire(options: FireOptions): Promise<FireReport> {
  const folder = mkdtempSync(join(tmpdir(), 'fire-backup-'));
  try {
    // RabbitMQ is wiped, so its messages are lost.
    return await Campaign.run({ ...options, repairsLosses: true }, (campaign) =>
      restore(campaign, join(folder, 'data.tar')),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function restore(campaign: Campaign, archive: string): Promise<void> {
  const { schedule, stage, world } = campaign;
  const { history } = campaign.load.recorder;
  const half = Math.ceil(schedule.length / 2);
  let backedUpAt = 0;
  let backup: Awaited<ReturnType<typeof volumeSnapshot>> | undefined;
  await campaign.disturb(schedule.slice(0, half), {
    load: 'secrets',
    meanwhile: async () => {
      await sleep(schedule[Math.floor(half / 2)]!.atMs);
      await campaign.injector.exclusively('postgres', async () => {
        backedUpAt = performance.now();
        backup = await volumeSnapshot(stage.system.postgres.url, archive);
      });
      campaign.log('backup taken');
    },
  });
  const services = Object.values(stage.system.processes).filter(({ name }) => name !== 'sandbox');
  await Promise.all(services.map((process) => process.stop()));
  await stage.system.postgres.restart('SIGINT', backup!.restore);
  await stage.system.rabbit.restart('SIGKILL', (data) =>
    rmSync(join(data, 'data'), { recursive: true, force: true }),
  );
  await Promise.all(services.map((process) => process.start()));
  const restored = await finalVersions(world);
  await associateAgain(campaign);
  campaign.log('backup restored');
  await associateAgain(campaign);
  const before = history.splice(0);
  const lost = lostByRestore(before, restored, backedUpAt);
  history.push(...asHistory(restored));
  await campaign.disturb(schedule.slice(half));
  await campaign.check(history, { 'writes before the backup': lost });
}

/**
 * Sets all associations again, which docs/operations/running.md#after-restoring-an-older-copy tells operators to do,
 * because the stores may be newer than the database. A secret of a code host that was first pushed after the backup has
 * no tag that says whose it is, so it has to be taken over.
 */
async function associateAgain({ world }: Campaign): Promise<void> {
  for (const { destination, key } of stillAssociations(world)) {
    const association = { mount, secret_name: key, overwrite: destination.type === 'codehost' };
    await world.api('POST', `${destination.path}/associations/set?wait=0`, association);
  }
}

/** Returns the writes that had been acknowledged before the backup began and are not in it. */
const lostByRestore = (
  history: readonly Operation[],
  restored: ReadonlyMap<string, FinalVersions>,
  backedUpAt: number,
): string[] =>
  ofKind(history, 'write')
    .filter(({ outcome, endedAt }) => outcome === 'ok' && endedAt < backedUpAt)
    .filter(({ key, version = 0, value }) => restored.get(key)?.get(version) !== value)
    .map(
      ({ key, version }) =>
        `version ${version} of ${key} was acknowledged before the backup and is not in it`,
    );

/** Returns the content of the restored database as a history of writes, in the order of the versions. */
const asHistory = (restored: ReadonlyMap<string, FinalVersions>): Operation[] =>
  [...restored].flatMap(([key, versions]) =>
    [...versions].map(([version, value]) => ({
      ...{ act: 'write' as const, key, value, version, id: `restored ${key} ${version}` },
      ...{ client: 'restore', gateway: 'restored', outcome: 'ok' as const, status: 200 },
      ...{ invokedAt: version * 2 - 1e9, endedAt: version * 2 + 1 - 1e9 },
    })),
  );
