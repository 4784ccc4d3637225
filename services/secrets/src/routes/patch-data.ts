import { invalid, Problem, SecretData } from '@secrets/domain';
import type { Reply } from '@secrets/http';
import { type Sealed, seal } from '@secrets/seal';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { WriteOptions } from '../fields.ts';
import type { MountRef } from '../known-mounts.ts';
import { kvOperation } from '../kv-operation.ts';
import { mergePatch } from '../merge-patch.ts';
import { presentVersion } from '../present-version.ts';
import { replaceVersion } from '../put-version.ts';
import { readWriteState } from '../queries/write-state.ts';
import { readValue } from '../read-value.ts';
import { whyNotWritten } from '../why-not-written.ts';

/** How often a patch begins again because the secret changed under it. */
const maxAttempts = 50;

export const patchData = (context: Context) =>
  kvOperation({
    method: 'patch',
    kind: 'data',
    path: 'secret',
    summary: 'merge a patch (RFC 7386) into the newest version and write it as a new one',
    body: z.object({ data: SecretData.transform(seal), options: WriteOptions }),
    handle: async ({ mount, path, body }) => {
      const cas = body.options?.cas ?? null;
      for (let tries = 0; tries < maxAttempts; tries++) {
        const reply = await patchOnce(context, mount, path, body.data, cas);
        if (reply !== undefined) return reply;
      }
      throw new Problem('unavailable', 'too many writers of this secret at once; try again');
    },
  });

/** Undefined when the secret changed between reading and writing. */
async function patchOnce(
  context: Context,
  mount: MountRef,
  path: string,
  patch: Sealed<SecretData>,
  cas: number | null,
): Promise<Reply | undefined> {
  const { stored, value } = await readValue(context, mount, path, 0);
  if (value === undefined) return { status: 404, data: { data: null, metadata: presentVersion(stored) } };
  const state = await readWriteState(context.db, mount, path);
  const problem = whyNotWritten(state, { cas, mayCreate: false, mayUpdate: true });
  if (problem !== undefined && state.currentVersion === stored.currentVersion) throw problem;
  const merged = SecretData.safeParse(mergePatch(value.reveal(), patch.reveal()));
  if (!merged.success) throw invalid(`data: ${merged.error.issues[0]?.message}`);
  const written = await replaceVersion(context, mount, path, seal(merged.data), stored);
  return written === undefined ? undefined : { data: presentVersion(written) };
}
