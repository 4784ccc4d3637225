// TypeScript does not declare these yet (https://github.com/tc39/proposal-json-parse-with-source).
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
};

/**
 * A number as it was written, such as `9007199254740993`, `1.10` or `1e3`: `JSON.stringify` writes it back digit for digit. It
 * occurs only where a number of JavaScript would be written differently.
 */
export interface ExactNumber {
  readonly rawJSON: string;
}

export const isExactNumber = isRawJSON;

/**
 * Matches every JSON text with a number that `JSON.stringify` might write differently, and some others: -0, one with a fraction
 * or an exponent, or one with 16 digits. A cheap first check, in linear time.
 */
const mayChange = /(?:^|[[:,\s])(?:-0|-?(?:\d+[.eE]|\d{16}))/;

/**
 * Parses JSON like `JSON.parse`, without losing digits or the notation of numbers: a number that would change becomes an
 * `ExactNumber`. Such numbers are marked as strings, and found again in what `JSON.parse` returns: calling a function with the
 * source of each value would take several times as long.
 * @throws SyntaxError; RangeError if the text is nested too deeply for the call stack
 */
export function parseExactly(text: string): unknown {
  if (!mayChange.test(text)) return JSON.parse(text);
  return unmarked(JSON.parse(markedIn(text)));
}

/** Begins the strings that are numbers. No other string does, but by chance. */
const mark = crypto.randomUUID().slice(0, 13);

const code = (character: string): number => character.charCodeAt(0);
const [quote, backslash, minus] = [code('"'), code('\\'), code('-')];
const [zero, nine] = [code('0'), code('9')];
const [comma, endOfList, endOfObject] = [code(','), code(']'), code('}')];

/** Replaces the numbers that would change by marked strings. What is not JSON remains so, or is refused. */
function markedIn(text: string): string {
  let marked = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    const first = text.charCodeAt(at);
    if (first === quote) at = endOfString(text, at + 1);
    else if (isDigit(first) || first === minus) {
      number.lastIndex = at;
      if (!number.test(text)) continue;
      const end = number.lastIndex;
      const source = text.slice(at, end);
      if (wouldChange(source)) {
        requireNoName(text, end);
        marked += `${text.slice(done, at)}"${mark}${source}"`;
        done = end;
      }
      at = end - 1;
    }
  }
  return marked + text.slice(done);
}

const isDigit = (one: number): boolean => one >= zero && one <= nine;

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * Whether `JSON.stringify` would write a number in another way. It is converted there and back, which takes as long as
 * everything else, only if its text does not show the answer.
 */
const wouldChange = (source: string): boolean => source.endsWith('.0') || String(Number(source)) !== source;

const colon = /[ \t\n\r]*:/y;

/** A string in the place of a number could be a name. */
function requireNoName(text: string, end: number): void {
  const next = text.charCodeAt(end);
  if (next === comma || next === endOfList || next === endOfObject) return;
  colon.lastIndex = end;
  if (colon.test(text)) throw new SyntaxError('a number is no name');
}

/** Characters that are read one by one before a native search begins, which costs as much as reading these. */
const stride = 32;

/** The index of the quote that ends a string, or one behind the text. */
function endOfString(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    for (const near = at + stride; at < near; at += 1) {
      const one = text.charCodeAt(at);
      if (one === quote) return at;
      if (one === backslash) at += 1;
    }
    const end = text.indexOf('"', at);
    if (end < 0) return text.length;
    if (!isEscaped(text, at, end)) return end;
    at = end + 1;
  }
  return text.length;
}

/** Whether an odd number of backslashes precedes `end`. No escape begins before `from`. */
function isEscaped(text: string, from: number, end: number): boolean {
  let begin = end;
  while (begin > from && text.charCodeAt(begin - 1) === backslash) begin -= 1;
  return (end - begin) % 2 === 1;
}

/** Puts exact numbers in the place of the marked strings. */
function unmarked(value: unknown): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? rawJSON(value.slice(mark.length)) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value))
    for (let at = 0; at < value.length; at += 1) value[at] = unmarked(value[at]); // an iterator takes longer
  else {
    const fields = value as Record<string, unknown>;
    for (const name in fields) fields[name] = unmarked(fields[name]);
  }
  return value;
}
