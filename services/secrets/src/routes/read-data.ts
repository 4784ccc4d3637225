import { z } from 'zod';
import type { Context } from '../context.ts';
import { versionNumber } from '../fields.ts';
import { kvOperation } from '../kv-operation.ts';
import { presentVersion } from '../present-version.ts';
import { readValue } from '../read-value.ts';

export const readData = (context: Context) =>
  kvOperation({
    method: 'get',
    kind: 'data',
    path: 'secret',
    summary: 'read a version, the newest unless `version` names another',
    query: z.object({ version: versionNumber.default(0) }),
    handle: async ({ mount, path, query }) => {
      const { stored, value } = await readValue(context, mount, path, query.version);
      const metadata = presentVersion(stored);
      if (value === undefined) return { status: 404, data: { data: null, metadata } };
      return { data: { data: value.reveal(), metadata } };
    },
  });
