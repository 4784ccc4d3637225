import { invalid } from '@secrets/domain';

/** Matches every JSON text that may contain an unpaired surrogate, which UTF-8 can only express as an escape sequence. */
const maySurrogate = /\\u[dD][89a-fA-F]/;

/**
 * Refuses texts and field names with an unpaired surrogate. They are not valid Unicode, so encoding them as UTF-8 silently
 * changes them to U+FFFD: in some external stores, in names and in hashes.
 * @throws a problem (`invalid`) that names the field
 */
export function requireUnicode(json: string, parsed: unknown): void {
  if (maySurrogate.test(json)) requireIn(parsed, []);
}

function requireIn(value: unknown, path: readonly string[]): void {
  if (typeof value === 'string') requireText(value, path);
  else if (typeof value === 'object' && value !== null)
    for (const [name, field] of Object.entries(value)) {
      requireText(name, [...path, name]);
      requireIn(field, [...path, name]);
    }
}

function requireText(text: string, path: readonly string[]): void {
  if (text.isWellFormed()) return;
  const field = path.join('.').toWellFormed() || 'the body';
  throw invalid(`${field}: must be valid Unicode, and contains an unpaired surrogate`);
}
