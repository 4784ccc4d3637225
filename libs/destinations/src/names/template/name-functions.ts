import { createHash } from 'node:crypto';
import { TemplateError } from './template-error.ts';

/** The kind of an argument before the text that the function is applied to. */
export type Parameter = 'text' | 'count';

export interface NameFunction {
  parameters: readonly Parameter[];
  /** Returns what is wrong with the arguments, which are constants known when the template is parsed. */
  refuse?(args: readonly (string | number)[]): string | undefined;
  apply(text: string, args: readonly (string | number)[]): string;
}

const hashDigits = 16;
const maxLength = 2048;

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/**
 * Truncates a text to `length` characters so that different texts stay distinct: a longer text becomes its first
 * `length` - 16 characters and the first 16 hex digits of its SHA-256. A shorter text is returned as it is.
 */
export function truncateSha256(text: string, length: number): string {
  const characters = [...text];
  if (characters.length <= length) return text;
  return characters.slice(0, length - hashDigits).join('') + sha256(text).slice(0, hashDigits);
}

const between =
  (minLength: number) =>
  ([length]: readonly (string | number)[]): string | undefined =>
    Number(length) >= minLength && Number(length) <= maxLength
      ? undefined
      : `takes a number from ${minLength} to ${maxLength}`;

/** The functions of name templates, all deterministic (docs/conventions/sync.md#names). */
export const nameFunctions: ReadonlyMap<string, NameFunction> = new Map<string, NameFunction>([
  ['uppercase', { parameters: [], apply: (text) => text.toUpperCase() }],
  ['lowercase', { parameters: [], apply: (text) => text.toLowerCase() }],
  [
    'replace',
    {
      parameters: ['text', 'text'],
      refuse: ([old]) => (old === '' ? 'cannot replace the empty text' : undefined),
      apply: (text, [old, by]) => text.replaceAll(String(old), () => String(by)),
    },
  ],
  [
    'trimprefix',
    {
      parameters: ['text'],
      apply: (text, [start]) => (text.startsWith(String(start)) ? text.slice(String(start).length) : text),
    },
  ],
  [
    'trimsuffix',
    {
      parameters: ['text'],
      apply: (text, [end]) =>
        text.endsWith(String(end)) ? text.slice(0, text.length - String(end).length) : text,
    },
  ],
  [
    'truncate',
    {
      parameters: ['count'],
      refuse: between(1),
      apply: (text, [length]) => [...text].slice(0, Number(length)).join(''),
    },
  ],
  [
    'truncate_sha256',
    {
      parameters: ['count'],
      refuse: between(hashDigits + 1),
      apply: (text, [length]) => truncateSha256(text, Number(length)),
    },
  ],
  ['sha256', { parameters: [], apply: sha256 }],
  ['base64', { parameters: [], apply: (text) => Buffer.from(text, 'utf8').toString('base64') }],
]);

/** The functions of the templates of import paths, which can also select a part of a text, counted from 0. */
export const pathFunctions: ReadonlyMap<string, NameFunction> = new Map<string, NameFunction>([
  ...nameFunctions,
  [
    'split',
    {
      parameters: ['text', 'count'],
      refuse: ([separator]) => (separator === '' ? 'cannot split at the empty text' : undefined),
      apply: (text, [separator, index]) => {
        const part = text.split(String(separator))[Number(index)];
        if (part === undefined) throw new TemplateError(`split finds no part ${index}`);
        return part;
      },
    },
  ],
]);

const maxStepLength = 65_536;

/** Applies a function by its name. Throws `TemplateError` if the result has more than 65,536 characters. */
export function applyNameFunction(name: string, text: string, args: readonly (string | number)[]): string {
  const result = pathFunctions.get(name)?.apply(text, args);
  if (result === undefined) throw new TemplateError(`unknown function ${name}`);
  if (result.length > maxStepLength)
    throw new TemplateError(`${name} returns more than ${maxStepLength} characters`);
  return result;
}
