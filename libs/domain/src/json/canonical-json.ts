import { isJsonObject } from './json.ts';

/** Returns the JSON text of a value with the names of all objects in order, so that values that differ only in it are equal. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(isInOrder(value) ? value : inOrder(value)); // to copy a value takes twice as long as to write it

function isInOrder(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isInOrder);
  if (!isJsonObject(value)) return true;
  const names = Object.keys(value);
  return names.every((name, at) => (at === 0 || names[at - 1]! < name) && isInOrder(value[name]));
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name])]));
}
