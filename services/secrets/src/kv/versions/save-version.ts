import { randomUUID } from 'node:crypto';
import type { Caller } from '@secrets/caller';
import { encodeSecretData, Problem, type SecretData, versionAad } from '@secrets/domain';
import { maxBodyBytes } from '@secrets/http';
import { encrypt, type Sealed } from '@secrets/seal';
import { traceparent } from '@secrets/telemetry';
import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import { readWriteState, type WrittenVersion } from '../../queries/versions/insert-version.ts';
import { retryWrite } from '../retry-write.ts';
import { unmetCondition, type WriteConditions, writeGrants } from '../write-conditions.ts';

/** Maximum size of a value in bytes: that of a request, so that patches cannot let a value grow further. */
const maxValueBytes = maxBodyBytes;

interface VersionWrite extends Pick<WriteConditions, 'cas'> {
  value: Sealed<SecretData>;
}

/**
 * Writes the next version of a secret. Throws `forbidden` if the caller may not create or update it, `invalid` if `cas`
 * is not the current version or is required but absent, `too_large` if the value exceeds 1 MiB.
 * @throws StaleMountError
 */
export async function saveVersion(
  context: Context,
  caller: Caller,
  mount: MountRef,
  path: string,
  { value, cas }: VersionWrite,
): Promise<WrittenVersion> {
  const conditions = { ...writeGrants(caller), cas };
  const version = { ...conditions, ...encryptVersion(context, mount, path, value), onlyIf: null };
  const written = await retryWrite(async () => {
    const written = await context.versions.write(mount, path, version);
    if (written !== undefined) return written;
    const problem = unmetCondition(await readWriteState(context.db, mount, path), conditions);
    if (problem !== undefined) throw problem;
    return undefined;
  });
  return notifyIfWatched(context, written);
}

/**
 * Writes the next version of a secret that is unchanged since it was read; returns undefined if it was changed. Throws
 * `too_large` if the value exceeds 1 MiB.
 * @throws StaleMountError
 */
export async function saveVersionIfUnchanged(
  context: Context,
  mount: MountRef,
  path: string,
  value: Sealed<SecretData>,
  read: { secretId: string; revision: number; currentVersion: number },
): Promise<WrittenVersion | undefined> {
  const written = await context.versions.write(mount, path, {
    ...encryptVersion(context, mount, path, value),
    cas: read.currentVersion,
    mayCreate: false,
    mayUpdate: true,
    onlyIf: { secretId: read.secretId, revision: read.revision },
  });
  return written === undefined ? undefined : notifyIfWatched(context, written);
}

/** Encrypts a value as the version that has yet to be written. Throws `too_large` if it exceeds 1 MiB. */
export function encryptVersion(context: Context, mount: MountRef, path: string, value: Sealed<SecretData>) {
  const plain = encodeSecretData(value.reveal());
  if (plain.length > maxValueBytes) throw new Problem('too_large', 'data: the secret would exceed 1 MiB');
  const versionId = randomUUID();
  const aad = versionAad({ mountId: mount.id, path, versionId });
  return {
    secretId: randomUUID(),
    versionId,
    sealed: encrypt(context.keyRing, aad, plain),
    traceparent: traceparent() ?? null,
  };
}

/** Has the event of a written version published. */
export function notifyIfWatched(context: Context, written: WrittenVersion): WrittenVersion {
  if (written.watched) context.background.notifyChanged();
  return written;
}
