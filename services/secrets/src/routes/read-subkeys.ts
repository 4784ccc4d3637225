import { integer } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { versionNumber } from '../fields.ts';
import { kvOperation } from '../kv-operation.ts';
import { presentVersion } from '../present-version.ts';
import { readValue } from '../read-value.ts';
import { subkeys } from '../subkeys.ts';

const depth = integer.refine((given) => given >= 0, { error: 'must not be negative' });

export const readSubkeys = (context: Context) =>
  kvOperation({
    method: 'get',
    kind: 'subkeys',
    path: 'secret',
    summary: 'read the keys of a version without its values',
    query: z.object({ version: versionNumber.default(0), depth: depth.default(0) }),
    handle: async ({ mount, path, query }) => {
      const { stored, value } = await readValue(context, mount, path, query.version);
      const metadata = presentVersion(stored);
      if (value === undefined) return { status: 404, data: { metadata, subkeys: null } };
      return { data: { metadata, subkeys: subkeys(value.reveal(), query.depth) } };
    },
  });
