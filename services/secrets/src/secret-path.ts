import { invalid } from '@secrets/domain';
import { isStorable } from './storable-text.ts';

/** Most bytes of a secret's path: the index that finds it takes no longer keys. */
export const maxPathBytes = 2_048;

/** Sorts after every path: no path may hold this noncharacter. */
export const afterEveryPath = '\u{10FFFF}';

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const refusedCharacters = /[\u0000-\u001f\u007f-\u009f\u{10FFFF}]/u;

/** Gives a path of segments back as it is, or throws `invalid`, naming the field. */
export function checkPath(path: string, field = 'path', maxBytes = maxPathBytes): string {
  const problem = whyNoPath(path, maxBytes);
  if (problem !== undefined) throw invalid(`${field}: ${problem}`);
  return path;
}

function whyNoPath(path: string, maxBytes: number): string | undefined {
  if (path === '') return 'must not be empty';
  if (Buffer.byteLength(path) > maxBytes) return `must be at most ${maxBytes} bytes`;
  if (!isStorable(path) || refusedCharacters.test(path)) return 'must not hold control characters';
  const segments = path.split('/');
  if (segments.includes('')) return 'must not begin or end with a slash or hold two in a row';
  if (segments.includes('.') || segments.includes('..')) return 'must not hold the segments . and ..';
  return undefined;
}

/** The path of a folder without the slash at its end; empty for the top. */
export function checkFolder(path: string): string {
  const folder = path.endsWith('/') ? path.slice(0, -1) : path;
  return folder === '' ? '' : checkPath(folder);
}
