import { Problem } from '@secrets/domain';
import { logFailure } from '@secrets/telemetry';
import { lockAuthMount } from '../../../queries/auth-mounts.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import type { ConfigSettings } from '../config/config-settings.ts';
import type { MountIdentity } from '../provider/mount-clients.ts';
import { findConfig } from '../queries/configs.ts';
import {
  isHeld,
  listAttempts,
  listDueRotations,
  type RotationRow,
  releaseLease,
  renewLease,
  takeLease,
} from '../queries/rotations.ts';
import { removeLeftovers } from './remove-leftovers.ts';
import { rotateSecret } from './rotate-secret.ts';
import { type Rotation, type RotationTimes, renewRotation, requireHeld } from './rotation-context.ts';
import { isMissed, nextRotation } from './rotation-schedule.ts';

const usualTimes: RotationTimes = { pollMs: 1_000, attempts: 15 };
const lookAgainSeconds = 60;
const maxBackoffSeconds = 3_600;
const batch = 10;

/**
 * Rotates the secret of a mount now, or continues a rotation. `warn` receives what the operator has to know. Throws
 * `conflict` if one is in progress or syncing is held, `invalid` if there is no secret, and what the provider's failures become.
 */
export async function rotateNow(
  context: CloudBContext,
  mount: MountIdentity,
  warn: Rotation['warn'],
  times: RotationTimes = usualTimes,
): Promise<void> {
  if (await isHeld(context.db))
    throw new Problem('conflict', 'syncing is held, as sys/sync/status explains, so nothing is rotated');
  const lease = await takeLease(context.db, mount.mountId);
  if (lease === undefined)
    throw new Problem('conflict', 'client_secret is being rotated already; try again in two minutes');
  await working({ context, mount, lease, times, warn }, rotateSecret);
}

/** Works on rotations that are scheduled or unfinished. For repeated calls on every replica. */
export async function runDueRotations(
  context: CloudBContext,
  isStopping: () => boolean,
  times: RotationTimes = usualTimes,
): Promise<void> {
  for (const mount of await listDueRotations(context.db, batch)) {
    if (isStopping()) return;
    const lease = await takeLease(context.db, mount.mountId);
    if (lease === undefined) continue;
    const { mountId } = mount;
    const warn = (reason: string) => context.log.warn({ mountId, reason }, 'rotation of client_secret');
    await working({ context, mount, lease, times, warn }, runDue).catch((error: unknown) =>
      logFailure(context.log, { error, mountId }, 'rotation of client_secret failed; will be retried'),
    );
  }
}

async function runDue(rotation: Rotation): Promise<void> {
  const { context, mount } = rotation;
  const { scheduledAt, pendingKeyId, secretSince } = await renewRotation(rotation);
  const config = await findConfig(context, mount.mountId);
  const now = new Date(context.db.now());
  const isAutomated = config !== undefined && nextRotation(config.settings, secretSince, now) !== null;
  const isDue = isAutomated && scheduledAt !== null && scheduledAt <= now;
  const missed = isDue && pendingKeyId === null && isMissed(config.settings, scheduledAt, now);
  if (missed) rotation.warn('the window of a scheduled rotation was missed');
  if (pendingKeyId !== null || (isDue && !missed)) return rotateSecret(rotation);
  await removeLeftovers(rotation);
}

/** Releases the lease whatever happens, and decides when the rotation is looked at again. */
async function working(rotation: Rotation, work: (rotation: Rotation) => Promise<void>): Promise<void> {
  try {
    await work(rotation);
    await release(rotation, false);
  } catch (error) {
    await release(rotation, true).catch(() => undefined); // then the lease ends by itself
    throw error;
  }
}

/** Holds the mount, as a write of the configuration does, so that the schedule follows from the newest one. */
const release = ({ context, mount, lease }: Rotation, hasFailed: boolean): Promise<void> =>
  context.db.transaction(async (tx) => {
    if (!(await lockAuthMount(tx, mount.mountId))) return;
    const row = requireHeld(await renewLease(tx, lease));
    const config = await findConfig({ ...context, db: tx }, mount.mountId);
    const now = new Date(context.db.now());
    const isDue = row.scheduledAt !== null && row.scheduledAt <= now;
    const failures = hasFailed ? row.failures + 1 : 0;
    const hasWork = isUnfinished(row) || (await listAttempts(tx, mount.mountId)).length > 0;
    await releaseLease(tx, lease, {
      failures,
      scheduledAt:
        config === undefined ? row.scheduledAt : scheduledAfter(row, config.settings, { hasFailed, now }),
      lookAgainSeconds: hasWork || (hasFailed && isDue) ? backoffSeconds(failures) : null,
    });
  });

/** When the next scheduled rotation begins. One that is due, and did not take place, remains due. */
function scheduledAfter(
  row: RotationRow,
  settings: ConfigSettings,
  { hasFailed, now }: { hasFailed: boolean; now: Date },
): Date | null {
  const { scheduledAt, secretSince, pendingKeyId } = row;
  const next = nextRotation(settings, secretSince, now);
  if (next === null || scheduledAt === null || scheduledAt > now) return next;
  // It failed, its password does not work yet, or it became due while leftovers were removed.
  const mayBegin = pendingKeyId !== null || !isMissed(settings, scheduledAt, now);
  return hasFailed || (secretSince < scheduledAt && mayBegin) ? scheduledAt : next;
}

const backoffSeconds = (failures: number): number =>
  Math.min(lookAgainSeconds * 2 ** failures, maxBackoffSeconds);

const isUnfinished = ({ pendingKeyId, retiredKeyId, discardedKeyIds }: RotationRow): boolean =>
  pendingKeyId !== null || retiredKeyId !== null || discardedKeyIds.length > 0;
