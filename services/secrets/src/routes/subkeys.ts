import { isJsonObject } from '@secrets/domain';
import { integerBetween } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { presentVersion } from '../kv/present-metadata.ts';
import { readValue } from '../kv/read-value.ts';
import { versionNumber } from './fields.ts';
import { type KvEndpoint, kvEndpoint, SecretParams } from './kv-endpoint.ts';

const depth = integerBetween(0, 999_999_999_999_999, 'must not be negative');

/** `<mount>/subkeys/<path>` (docs/api.md#secrets). */
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
  const entries = Object.entries(object).map(([key, value]) => [key, subkeysIn(value, depth)] as const);
  return Object.fromEntries(entries);
}

function subkeysIn(value: unknown, depth: number): unknown {
  return isJsonObject(value) && depth !== 1 ? subkeysOf(value, Math.max(0, depth - 1)) : null;
}
