import { Problem } from '@secrets/domain';
import type { CloudBContext } from '../cloudb-context.ts';
import type { MountIdentity } from '../provider/mount-clients.ts';
import { type Lease, type RotationRow, renewLease } from '../queries/rotations.ts';

/** The times that a rotation waits until the provider knows a new password. */
export interface RotationTimes {
  /** Between two attempts to use it. */
  pollMs: number;
  /** How many of them, before a later run continues. */
  attempts: number;
}

/** A rotation on which this process works. */
export interface Rotation {
  context: CloudBContext;
  mount: MountIdentity;
  lease: Lease;
  times: RotationTimes;
  /** Receives what the operator has to know or do. */
  warn: (sentence: string) => void;
}

/** Prolongs the lease before a step, and returns the current state. Throws `conflict` if another process has taken over. */
export async function renewRotation({ context, lease }: Rotation): Promise<RotationRow> {
  return requireHeld(await renewLease(context.db, lease));
}

/** Throws `conflict` if a write found that the lease is lost, or that the secret was written in the meantime. */
export function requireHeld<Result>(result: Result | undefined | false): Result {
  if (result === undefined || result === false)
    throw new Problem(
      'conflict',
      'the rotation was overtaken by another one, or by a write of client_secret',
    );
  return result;
}
