import { randomUUID } from 'node:crypto';
import { encodeSecretData, Problem, type SecretData, versionAad } from '@secrets/domain';
import { maxBodyBytes } from '@secrets/http';
import { encrypt, type Sealed } from '@secrets/seal';
import type { Context } from './context.ts';
import type { MountRef } from './known-mounts.ts';
import { readWriteState } from './queries/write-state.ts';
import { type NewVersion, type WrittenVersion, writeVersion } from './queries/write-version.ts';
import { type WantedWrite, whyNotWritten } from './why-not-written.ts';

/** How often two writers may meet in creating the same secret before one gives up. */
const maxAttempts = 8;

/** Most bytes of a value: as many as a request can bring, however many patches it grew by. */
const maxValueBytes = maxBodyBytes;

/** Writes the next version of a secret. Throws `too_large`, what `whyNotWritten` says, or `MountGone`. */
export async function putVersion(
  context: Context,
  mount: MountRef,
  path: string,
  value: Sealed<SecretData>,
  wanted: WantedWrite,
): Promise<WrittenVersion> {
  const given: NewVersion = { ...wanted, ...sealNew(context, mount, path, value), onlyIf: null };
  for (let tries = 0; tries < maxAttempts; tries++) {
    const written = await writeVersion(context.db, mount, path, given);
    if (written !== undefined) return notifyIfWatched(context, written);
    const problem = whyNotWritten(await readWriteState(context.db, mount, path), wanted);
    if (problem !== undefined) throw problem;
  }
  throw new Problem('unavailable', 'too many writers of this secret at once; try again');
}

/** Writes the next version of a secret that nobody changed since it was read; undefined when somebody did. Throws `too_large`. */
export async function replaceVersion(
  context: Context,
  mount: MountRef,
  path: string,
  value: Sealed<SecretData>,
  read: { secretId: string; revision: number; currentVersion: number },
): Promise<WrittenVersion | undefined> {
  const written = await writeVersion(context.db, mount, path, {
    ...sealNew(context, mount, path, value),
    cas: read.currentVersion,
    mayCreate: false,
    mayUpdate: true,
    onlyIf: { secretId: read.secretId, revision: read.revision },
  });
  return written === undefined ? undefined : notifyIfWatched(context, written);
}

function sealNew(context: Context, mount: MountRef, path: string, value: Sealed<SecretData>) {
  const plain = encodeSecretData(value.reveal());
  if (plain.length > maxValueBytes) throw new Problem('too_large', 'data: the secret would be over 1 MiB');
  const versionId = randomUUID();
  const aad = versionAad({ mountId: mount.id, path, versionId });
  return {
    secretId: randomUUID(),
    versionId,
    sealed: encrypt(context.keyRing, aad, plain),
  };
}

function notifyIfWatched(context: Context, written: WrittenVersion): WrittenVersion {
  if (written.watched) context.notifyChanged();
  return written;
}
