import { invalid } from '@secrets/domain';
import { stringMap } from '@secrets/http';

const tooLarge = 'must have at most 64 names and 16 KiB';

/** The custom metadata of a namespace. */
export const customMetadata = stringMap
  .refine((map) => Object.keys(map).length <= 64 && JSON.stringify(map).length <= 16_384, { error: tooLarge })
  .meta({ maxProperties: 64 });

/**
 * Applies a merge patch (RFC 7386): null removes a name, and a patch that is null removes all of them. Throws `invalid` if
 * the result is too large.
 */
export function patchedMetadata(
  stored: Record<string, string>,
  patch: Record<string, string | null> | null,
): Record<string, string> {
  if (patch === null) return {};
  const merged = Object.entries({ ...stored, ...patch }).filter(([, value]) => value !== null);
  const parsed = customMetadata.safeParse(Object.fromEntries(merged));
  if (!parsed.success) throw invalid(`custom_metadata: ${tooLarge}`);
  return parsed.data;
}
