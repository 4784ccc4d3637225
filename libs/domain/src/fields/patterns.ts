// Parts of regular expressions that other programs can use, too: the description of the API contains them. Programs that draw
// requests from it or generate clients do not know Unicode classes (`\\p{Cc}`), and some take `\\w` and `\\d` for all letters
// and digits of Unicode.

/** The control characters, as ranges of a character class. */
export const controlCharacters = '\\u0000-\\u001F\\u007F-\\u009F';

/** A text without control characters. */
export const withoutControl = new RegExp(`^[^${controlCharacters}]*$`);

/** A text that the database can store. */
export const withoutNul = { pattern: '^[^\\u0000]*$' };

/** The text is empty or matches an expression that begins with `^` and ends with `$`. */
export const emptyOr = ({ source }: RegExp): string => `^(?:${source.slice(1, -1)})?$`;
