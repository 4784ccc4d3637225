import { controlCharacters } from '@secrets/domain';
import { z } from 'zod';
import { isStorable } from '../storable-text.ts';
import { invisible, isVisible } from '../visible-text.ts';

/** Maximum size of a secret's path in bytes: Postgres cannot index longer keys. */
const maxPathBytes = 2_048;

/** Sorts after every path: no path may contain this noncharacter. */
export const afterEveryPath = '\u{10FFFF}';

const refusedCharacters = new RegExp(`[${controlCharacters}\u{10FFFF}]`, 'u');

/** Why a text is not a path of segments; undefined if it is one. */
function pathProblem(path: string, maxBytes = maxPathBytes): string | undefined {
  if (path === '') return 'must not be empty';
  if (Buffer.byteLength(path) > maxBytes) return `must have at most ${maxBytes} bytes`;
  if (!isStorable(path) || refusedCharacters.test(path)) return 'must not contain control characters';
  const segments = path.split('/');
  if (segments.includes('')) return 'must not begin or end with a slash or contain two in a row';
  if (segments.includes('.') || segments.includes('..')) return 'must not contain the segments . and ..';
  return undefined;
}

/** Why a text cannot be the path of something new; undefined if it can. */
export const newPathProblem = (path: string, maxBytes = maxPathBytes): string | undefined =>
  pathProblem(path, maxBytes) ?? (isVisible(path) ? undefined : 'must not contain invisible characters');

function checkPath(path: string, context: z.RefinementCtx): void {
  report(pathProblem(path), context);
}

function report(problem: string | undefined, context: z.RefinementCtx): void {
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
}

/** The path of a secret below its mount. It may be older than the rule about invisible characters. */
export const secretPath = z.string().superRefine(checkPath);

const other = `${invisible}\\\\/`;
const visibleSegment = `(?:[^.${other}][^${other}]*|\\.(?:[^.${other}][^${other}]*|\\.[^${other}]+))`;
/** For the description of the API: a path without invisible characters. */
export const visiblePath = `^${visibleSegment}(?:/${visibleSegment})*$`;

/** The path of a secret that a request may create. */
export const newSecretPath = z
  .string()
  .superRefine((path, context) => report(newPathProblem(path), context))
  .meta({ pattern: visiblePath, description: 'at most 2,048 bytes in UTF-8' });

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
