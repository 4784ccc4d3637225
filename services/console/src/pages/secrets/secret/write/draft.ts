import { parseExact } from '../../../../api/exact-json.ts';

/** A key and its value, both as text. */
export interface Pair {
  key: string;
  value: string;
  /** The value is JSON. A field has one line, so texts with several are JSON, too. */
  isJson?: true;
}

/** The data that the user is entering, in one of two forms: pairs of texts, or JSON. */
export type Draft = { form: 'pairs'; pairs: readonly Pair[] } | { form: 'json'; text: string };

export const emptyDraft: Draft = { form: 'pairs', pairs: [{ key: '', value: '' }] };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the data of a draft, or the reason why it has none. Pairs without a key are left out. */
export function dataOfDraft(draft: Draft): Record<string, unknown> | string {
  if (draft.form === 'json') return dataOfText(draft.text);
  const pairs = draft.pairs.filter(({ key }) => key !== '');
  const keys = pairs.map(({ key }) => key);
  const repeated = keys.find((key, at) => keys.indexOf(key) !== at);
  if (repeated !== undefined) return `The key ${repeated} is there twice.`;
  if (keys.length === 0) return 'Enter at least one key.';
  return dataOfPairs(pairs);
}

function dataOfPairs(pairs: readonly Pair[]): Record<string, unknown> | string {
  const entries: [string, unknown][] = [];
  for (const { key, value, isJson } of pairs) {
    try {
      entries.push([key, isJson ? parseExact(value) : value]);
    } catch {
      return `The value of ${key} is not JSON.`; // The reason of the parser repeats the value.
    }
  }
  return Object.fromEntries(entries);
}

function dataOfText(text: string): Record<string, unknown> | string {
  try {
    const value = parseExact(text);
    return isObject(value) ? value : 'The JSON must be an object.';
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}.`;
  }
}

/** Returns the draft of some data: as pairs if that is wanted and possible, otherwise as JSON. */
export function draftOf(data: Record<string, unknown>, wanted: Draft['form'] = 'pairs'): Draft {
  if (wanted === 'json' || Object.hasOwn(data, ''))
    return { form: 'json', text: JSON.stringify(data, undefined, 2) };
  const pairs = Object.entries(data).map(([key, value]): Pair => pairOf(key, value));
  return pairs.length === 0 ? emptyDraft : { form: 'pairs', pairs };
}

const pairOf = (key: string, value: unknown): Pair =>
  typeof value === 'string' && !/[\r\n]/.test(value)
    ? { key, value }
    : { key, value: JSON.stringify(value), isJson: true };

/** Returns the same data in the other form; the draft itself if that is not possible. */
export function switched(draft: Draft): Draft {
  const data = dataOfDraft(draft);
  if (typeof data === 'string') return draft.form === 'pairs' ? { form: 'json', text: '{\n  \n}' } : draft;
  return draftOf(data, draft.form === 'pairs' ? 'json' : 'pairs');
}
