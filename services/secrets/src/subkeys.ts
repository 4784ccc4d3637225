/**
 * The keys of an object without its values: nested objects as far as `depth` levels (0: all), null in place of
 * everything else.
 */
export function subkeys(object: Record<string, unknown>, depth: number): Record<string, unknown> {
  const entries = Object.entries(object).map(([key, value]) => [key, keysIn(value, depth)] as const);
  return Object.fromEntries(entries);
}

function keysIn(value: unknown, depth: number): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && depth !== 1 ? subkeys(value as Record<string, unknown>, Math.max(0, depth - 1)) : null;
}
