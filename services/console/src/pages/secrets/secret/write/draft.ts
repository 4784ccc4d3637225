import { parseExact } from '../../../../api/exact-json.ts';

/** A key and its value, both as text. */
export interface Pair {
  key: string;
  value: string;
}

/** What the user is writing: pairs of texts, or JSON. */
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
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
}

function dataOfText(text: string): Record<string, unknown> | string {
  try {
    const value = parseExact(text);
    return isObject(value) ? value : 'The JSON must be an object.';
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}.`;
  }
}

/** Returns the draft of some data: as pairs if all values are texts and pairs are wanted, otherwise as JSON. */
export function draftOf(data: Record<string, unknown>, wanted: Draft['form'] = 'pairs'): Draft {
  const pairs = Object.entries(data).flatMap(([key, value]) =>
    typeof value === 'string' ? [{ key, value }] : [],
  );
  const fits = pairs.length === Object.keys(data).length;
  if (wanted === 'pairs' && fits) return pairs.length === 0 ? emptyDraft : { form: 'pairs', pairs };
  return { form: 'json', text: JSON.stringify(data, undefined, 2) };
}

/** Returns the same data in the other form; the draft itself if that is not possible. */
export function switched(draft: Draft): Draft {
  const data = dataOfDraft(draft);
  if (typeof data === 'string') return draft.form === 'pairs' ? { form: 'json', text: '{\n  \n}' } : draft;
  return draftOf(data, draft.form === 'pairs' ? 'json' : 'pairs');
}
