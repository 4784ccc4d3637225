import { invalid, SecretData } from '@secrets/domain';
import { type Sealed, seal } from '@secrets/seal';
import type { Context } from '../../context.ts';
import type { MountRef } from '../../mounts/mount-ref.ts';
import type { VersionRow } from '../../queries/versions/find-version.ts';
import { readWriteState, type WrittenVersion } from '../../queries/versions/insert-version.ts';
import { mergePatch } from '../merge-patch.ts';
import { retryWrite } from '../retry-write.ts';
import { unmetCondition } from '../write-conditions.ts';
import { readValue } from './read-value.ts';
import { saveVersionIfUnchanged } from './save-version.ts';

interface VersionPatch {
  patch: Sealed<SecretData>;
  /** The version that the writer expects to be current; null if it does not say. */
  cas: number | null;
}

/** The new version; or, if the newest version is deleted or destroyed, that version. */
type PatchResult = { written: WrittenVersion } | { unreadable: VersionRow };

/**
 * Merges a patch into the newest version and writes the result as a new one. Throws `not_found` if there is no version,
 * `invalid` if the result is no valid value, or `cas` is not the current version or is required but absent, `too_large`
 * if the result exceeds 1 MiB.
 * @throws StaleMountError
 */
export const patchVersion = (
  context: Context,
  mount: MountRef,
  path: string,
  request: VersionPatch,
): Promise<PatchResult> => retryWrite(() => patchOnce(context, mount, path, request));

/** Undefined if the secret was changed between reading and writing. */
async function patchOnce(
  context: Context,
  mount: MountRef,
  path: string,
  { patch, cas }: VersionPatch,
): Promise<PatchResult | undefined> {
  const { stored, value } = await readValue(context, mount, path, 0);
  if (value === undefined) return { unreadable: stored };
  const state = await readWriteState(context.db, mount, path);
  const problem = unmetCondition(state, { cas, mayCreate: false, mayUpdate: true });
  if (problem !== undefined && state.currentVersion === stored.currentVersion) throw problem;
  const merged = SecretData.safeParse(mergePatch(value.reveal(), patch.reveal()));
  if (!merged.success) throw invalid(`data: ${merged.error.issues[0]?.message}`);
  const written = await saveVersionIfUnchanged(context, mount, path, seal(merged.data), stored);
  return written === undefined ? undefined : { written };
}
