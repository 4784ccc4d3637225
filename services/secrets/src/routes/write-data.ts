import { SecretData } from '@secrets/domain';
import { seal } from '@secrets/seal';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { WriteOptions } from '../fields.ts';
import { kvOperation } from '../kv-operation.ts';
import { presentVersion } from '../present-version.ts';
import { putVersion } from '../put-version.ts';

export const writeData = (context: Context) =>
  kvOperation({
    method: 'post',
    kind: 'data',
    path: 'secret',
    summary: 'write a new version',
    body: z.object({ data: SecretData.transform(seal), options: WriteOptions }),
    handle: async ({ mount, path, body, caller }) => {
      const written = await putVersion(context, mount, path, body.data, {
        cas: body.options?.cas ?? null,
        mayCreate: caller.grants.includes('create'),
        mayUpdate: caller.grants.includes('update'),
      });
      return { data: presentVersion(written) };
    },
  });
