import { isExactNumber } from './exact-json.ts';

/** Limits of a JSON text that determine the memory per byte. The number of bytes is limited elsewhere. */
export interface JsonBudget {
  /** Levels of objects and lists. */
  depth: number;
  /** Values of all kinds, objects and lists included. */
  values: number;
}

/**
 * Returns what a JSON text in UTF-8 has too much of, as the end of a sentence such as `has more than 256 values`; undefined if
 * it is within the budget. Reads each byte at most once or twice, keeps nothing, and ends at the first excess. The text may be
 * invalid: that is left to the parser.
 */
export function excessOf(text: Uint8Array, { depth, values }: JsonBudget): string | undefined {
  let open = 0;
  let found = 0;
  let isExpected = true; // a value begins next, or an object or list ends
  for (let at = 0; at < text.length; at += 1) {
    const kind = kinds[text[at]!]!;
    if (kind === plain && !isExpected) continue;
    if (kind === blank) continue;
    if (kind === comma) {
      isExpected = true;
      continue;
    }
    if (kind === closing) {
      open -= 1;
      isExpected = false;
      continue;
    }
    if (isExpected) found += 1; // the value of a field is not expected: its name was counted
    if (found > values) return tooMany(values);
    isExpected = kind === opening;
    if (isExpected) open += 1;
    if (open > depth) return tooDeep(depth);
    if (kind === quote) at = endOfString(text, at + 1);
  }
  return undefined;
}

const inWords = new Intl.NumberFormat('en');
const tooMany = (values: number) => `has more than ${inWords.format(values)} values`;
const tooDeep = (levels: number) => `is nested deeper than ${inWords.format(levels)} levels`;

/**
 * Returns why a parsed value exceeds the budget; undefined if it does not. The value may not be nested deeper than the
 * call stack.
 */
export function excessIn(given: unknown, { depth, values }: JsonBudget): string | undefined {
  let found = 0;
  const visit = (value: unknown, levels: number): string | undefined => {
    found += 1;
    if (found > values) return tooMany(values);
    if (typeof value !== 'object' || value === null || isExactNumber(value)) return undefined;
    if (levels === 0) return tooDeep(depth);
    for (const name of Object.keys(value)) {
      const excess = visit((value as Record<string, unknown>)[name], levels - 1);
      if (excess !== undefined) return excess;
    }
    return undefined;
  };
  return visit(given, depth);
}

const [plain, blank, comma, opening, closing, quote] = [0, 1, 2, 3, 4, 5];
/** The kind of each byte outside of strings. A colon separates nothing that counts. */
const kinds = new Uint8Array(256);
for (const [characters, kind] of [
  [' \t\n\r:', blank],
  [',', comma],
  ['[{', opening],
  [']}', closing],
  ['"', quote],
] as const)
  for (const character of characters) kinds[character.charCodeAt(0)] = kind;

const [quoteByte, backslash] = [0x22, 0x5c];
/** Bytes that are read one by one before a native search begins, which costs as much as much as reading these. */
const stride = 32;

/** The index of the quote that ends a string, or the length of the text. */
function endOfString(text: Uint8Array, from: number): number {
  let at = from;
  while (at < text.length) {
    const near = Math.min(at + stride, text.length);
    for (; at < near; at += 1) {
      const byte = text[at];
      if (byte === quoteByte) return at;
      if (byte === backslash) at += 1;
    }
    const end = text.indexOf(quoteByte, at);
    if (end < 0) return text.length;
    if (!isEscaped(text, at, end)) return end;
    at = end + 1;
  }
  return text.length;
}

/** Whether an odd number of backslashes precedes `end`. No escape begins before `from`. */
function isEscaped(text: Uint8Array, from: number, end: number): boolean {
  let begin = end;
  while (begin > from && text[begin - 1] === backslash) begin -= 1;
  return (end - begin) % 2 === 1;
}
