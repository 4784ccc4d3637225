import { isJsonObject } from '@secrets/domain';
import { integerBetween } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { presentVersion } from '../../kv/metadata/present-metadata.ts';
import { readValue } from '../../kv/versions/read-value.ts';
import { versionNumber } from './fields.ts';
import { type KvEndpoint, kvEndpoint, SecretParams } from './kv-endpoint.ts';

const depth = integerBetween(0, 999_999_999_999_999, 'must not be negative');

/** `<mount>/subkeys/<path>` (docs/api/secrets.md#secrets). */
export const subkeysEndpoints = (context: Context): KvEndpoint[] => [readSubkeys(context)];

const readSubkeys = (context: Context) =>
  kvEndpoint({
    method: 'get',
    path: '/subkeys/*path',
    summary: 'Read the keys of a version of a secret, without its values',
    params: SecretParams,
    query: z.object({ version: versionNumber.default(0), depth: depth.default(0) }),
    handle: async ({ mount, params, query }) => {
      const { stored, value } = await readValue(context, mount, params.path, query.version);
      const metadata = presentVersion(stored);
      if (value === undefined) return { status: 404, data: { metadata, subkeys: null } };
      return { data: { metadata, subkeys: subkeysOf(value.reveal(), query.depth) } };
    },
  });

/** The keys of an object and of nested objects down to `depth` levels (0: all); null replaces all other values. */
function subkeysOf(object: Record<string, unknown>, depth: number): Record<string, unknown> {
  const subkeys: Record<string, unknown> = Object.create(null); // so that `__proto__` is a key
  for (const key of Object.keys(object)) subkeys[key] = subkeysIn(object[key], depth);
  return subkeys;
}

function subkeysIn(value: unknown, depth: number): unknown {
  return isJsonObject(value) && depth !== 1 ? subkeysOf(value, Math.max(0, depth - 1)) : null;
}
