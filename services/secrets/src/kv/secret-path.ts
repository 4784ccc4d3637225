import { z } from 'zod';
import { isStorable } from '../storable-text.ts';

/** Maximum size of a secret's path in bytes: Postgres cannot index longer keys. */
const maxPathBytes = 2_048;

/** Sorts after every path: no path may contain this noncharacter. */
export const afterEveryPath = '\u{10FFFF}';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused
const refusedCharacters = /[\u0000-\u001f\u007f-\u009f\u{10FFFF}]/u;

/** Why a text is not a path of segments; undefined if it is one. */
export function pathProblem(path: string, maxBytes = maxPathBytes): string | undefined {
  if (path === '') return 'must not be empty';
  if (Buffer.byteLength(path) > maxBytes) return `must have at most ${maxBytes} bytes`;
  if (!isStorable(path) || refusedCharacters.test(path)) return 'must not contain control characters';
  const segments = path.split('/');
  if (segments.includes('')) return 'must not begin or end with a slash or contain two in a row';
  if (segments.includes('.') || segments.includes('..')) return 'must not contain the segments . and ..';
  return undefined;
}

function checkPath(path: string, context: z.RefinementCtx): void {
  const problem = pathProblem(path);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
}

/** The path of a secret below its mount. */
export const secretPath = z.string().superRefine(checkPath);

/** The path of a folder, returned without the slash at its end; empty for the top. */
export const folderPath = z
  .string()
  .transform(withoutEndSlash)
  .superRefine((path, context) => {
    if (path !== '') checkPath(path, context);
  });

/** Drops one slash at the end; a second one makes the path invalid. */
export function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
