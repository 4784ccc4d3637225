import type { FormField } from './destination-types.ts';

/** The input of a form, by field. Lists and maps are text with one item per line. */
export type FormValues = Readonly<Record<string, string | boolean | string[]>>;

/** Placeholder that responses show for a stored secret. Sending it back keeps the secret. */
export const mask = '*****';

/** Returns what a form begins with: the settings of a destination as responses contain them, or the defaults. */
export const initialValues = (
  fields: readonly FormField[],
  stored: Readonly<Record<string, unknown>> = {},
): FormValues =>
  Object.fromEntries(
    fields.map((field) => [field.name, entered(field, stored[field.name] ?? field.initial)]),
  );

function entered({ kind }: FormField, value: unknown): string | boolean | string[] {
  if (kind === 'flag') return value === true;
  if (kind === 'choices') return Array.isArray(value) ? value.map(String) : [];
  if (Array.isArray(value)) return value.join('\n');
  if (typeof value === 'object' && value !== null)
    return Object.entries(value)
      .map(([key, text]) => `${key} = ${text}`)
      .join('\n');
  return String(value ?? '');
}

/** Returns the fields of a request that has the service store what was changed. `null` restores a default or removes a tag. */
export function changedSettings(
  fields: readonly FormField[],
  before: FormValues,
  after: FormValues,
): Record<string, unknown> {
  const changed = fields.filter(({ name }) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return Object.fromEntries(changed.map((field) => [field.name, setting(field, before, after)]));
}

function setting({ name, kind }: FormField, before: FormValues, after: FormValues): unknown {
  const value = after[name];
  if (typeof value !== 'string') return value;
  if (kind === 'list') return itemsOf(value);
  if (kind === 'map') return withRemoved(tagsOf(String(before[name])), tagsOf(value));
  if (kind === 'secret') return value.trim();
  return value.trim() === '' ? null : value.trim();
}

const itemsOf = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((item) => item.trim())
    .filter((item) => item !== '');

const tagsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [key = '', ...rest] = line.split('=');
        return [key.trim(), rest.join('=').trim()];
      }),
  );

const withRemoved = (before: Record<string, string>, after: Record<string, string>) => ({
  ...Object.fromEntries(Object.keys(before).map((key) => [key, null])),
  ...after,
});

/** Returns the sentences of a refusal by the field that they begin with, such as `region: must be …`. */
export function problemsByField(
  fields: readonly FormField[],
  sentences: readonly string[],
): Record<string, string> {
  const names = new Set(fields.map(({ name }) => name));
  const named = sentences.flatMap((sentence) => {
    const [, name = '', problem = ''] = /^(\w+)[^:]*: (.*)$/s.exec(sentence) ?? [];
    return names.has(name) ? [[name, problem] as const] : [];
  });
  return Object.fromEntries(named);
}
