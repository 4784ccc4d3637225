import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import { SecretRefused } from '../provider/credentials/token-problem.ts';
import type { MountClient } from '../provider/mount-client.ts';
import { discardPending } from '../queries/rotations.ts';
import { type Rotation, renewRotation } from './rotation-context.ts';

/** So often in a row, the directory must accept a new password: its replicas learn of it one after the other. */
const acceptances = 2;
/** The request for a rotation is answered within the 30 s for which the gateway waits, unless the provider is slow. */
const maxWaitMs = 15_000;
/** A password that the directory still refuses by then is given up, and another one is added. */
const maxRefusedSeconds = 3_600;

/**
 * `refused`: the directory said each time that the password is wrong. `unknown`: at least once, it said something else,
 * or nothing.
 */
export type FailedTrial = { result: 'refused' } | { result: 'unknown'; problem: Problem };
type Trial = { result: 'accepted' } | FailedTrial;

/** Tries the pending password, for a while, until the directory accepts it. */
export async function tryPending(
  { context, mount, times }: Rotation,
  secret: Sealed<string>,
): Promise<Trial> {
  const client = await context.clients.current(mount);
  const deadline = Date.now() + maxWaitMs;
  let accepted = 0;
  let failed: FailedTrial = { result: 'refused' };
  for (let attempt = 0; attempt < times.attempts && Date.now() < deadline; attempt += 1) {
    if (attempt > 0) await sleep(times.pollMs);
    const trial = await trySecret(client, secret);
    accepted = trial.result === 'accepted' ? accepted + 1 : 0;
    if (accepted >= acceptances) return trial;
    if (trial.result !== 'refused') failed = undecided(trial);
  }
  return failed;
}

/**
 * Discards a password that the directory has refused for too long to be waited for. Keeps it while the current secret
 * does not work either: it may then be the only one that is left.
 */
export async function discardIfHopeless(rotation: Rotation, trial: FailedTrial): Promise<void> {
  const { pendingSeconds } = await renewRotation(rotation);
  if (trial.result !== 'refused' || (pendingSeconds ?? 0) <= maxRefusedSeconds) return;
  const { context, mount, lease } = rotation;
  const client = await context.clients.current(mount);
  if (client.source.kind !== 'secret') return;
  const current = await trySecret(client, client.source.secret);
  if (current.result === 'accepted') await discardPending(context.db, lease);
}

async function trySecret(client: MountClient, secret: Sealed<string>): Promise<Trial> {
  try {
    await client.trySecret(secret);
    return { result: 'accepted' };
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    return problem instanceof SecretRefused ? { result: 'refused' } : { result: 'unknown', problem };
  }
}

/** Accepted too seldom in a row: some replicas of the directory know the password. */
const undecided = (trial: Exclude<Trial, { result: 'refused' }>): FailedTrial =>
  trial.result === 'unknown'
    ? trial
    : { result: 'unknown', problem: new Problem('unavailable', 'not all of the directory knows it yet') };
