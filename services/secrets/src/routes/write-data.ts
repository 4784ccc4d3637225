import { SecretData } from '@secrets/domain';
import { seal } from '@secrets/seal';
import { z } from 'zod';
import { WriteOptions } from '../fields.ts';
import type { Kv } from '../kv.ts';
import { kvOperation } from '../kv-operation.ts';
import { presentVersion } from '../present-version.ts';
import { putVersion } from '../put-version.ts';

export const writeData = (kv: Kv) =>
  kvOperation({
    method: 'post',
    kind: 'data',
    path: 'secret',
    summary: 'write a new version',
    body: z.object({ data: SecretData.transform(seal), options: WriteOptions }),
    handle: async ({ mount, path, body, caller }) => {
      const written = await putVersion(kv, mount, path, body.data, {
        cas: body.options?.cas ?? null,
        mayCreate: caller.grants.includes('create'),
        mayUpdate: caller.grants.includes('update'),
      });
      return { data: presentVersion(written) };
    },
  });
