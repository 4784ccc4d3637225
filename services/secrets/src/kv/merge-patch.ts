import { isJsonObject } from '@secrets/domain';

type JsonObject = Record<string, unknown>;

/**
 * Applies a JSON merge patch (RFC 7386) to an object: null removes a key, objects are merged, anything else replaces.
 * Changes neither argument.
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged: JsonObject = Object.assign(Object.create(null), target); // so that `__proto__` is an ordinary key
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete merged[key];
    else merged[key] = isJsonObject(change) ? mergePatch(objectOr(merged[key]), change) : change;
  }
  return merged;
}

const objectOr = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
