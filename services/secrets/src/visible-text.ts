/**
 * Characters that are invisible or look like others, as ranges of a regular expression: control and format characters, separators
 * other than the space, and private use. An explicit list means the same in each version of Unicode, and in each
 * language that reads the description of the API.
 */
export const invisible =
  '\\u0000-\\u001F\\u007F-\\u00A0\\u00AD\\u0600-\\u0605\\u061C\\u06DD\\u070F\\u0890\\u0891\\u08E2\\u1680\\u180E' +
  '\\u2000-\\u200F\\u2028-\\u202F\\u205F-\\u206F\\u3000\\uE000-\\uF8FF\\uFEFF\\uFFF9-\\uFFFB' +
  '\u{110BD}\u{110CD}\u{13430}-\u{1343F}\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E007F}\u{F0000}-\u{10FFFF}';

const anyInvisible = new RegExp(`[${invisible}\\uD800-\\uDFFF]`, 'u');

/** Whether a text contains no invisible characters (docs/conventions/secrets.md#values). */
export const isVisible = (text: string): boolean => !anyInvisible.test(text);
