import { isJsonObject } from '@secrets/domain';

type JsonObject = Record<string, unknown>;

/**
 * Applies a JSON merge patch (RFC 7386) to an object: null removes a key, objects are merged, anything else replaces.
 * Changes neither argument.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) merged.delete(key);
    else merged.set(key, isJsonObject(change) ? mergePatch(objectOr(merged.get(key)), change) : change);
  }
  return Object.fromEntries(merged); // unlike an assignment, this defines `__proto__` as an ordinary key
}

const objectOr = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
