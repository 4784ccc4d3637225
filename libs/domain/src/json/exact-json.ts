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

type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown;

const keepDigits: Reviver = (_name, value, { source } = {}) =>
  typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value;

/**
 * Parses JSON like `JSON.parse`, without losing digits or the notation of numbers: a number that would change becomes an
 * `ExactNumber`.
 * @throws SyntaxError; RangeError if the text is nested too deeply for the call stack
 */
export const parseExactly = (text: string): unknown =>
  JSON.parse(
    text,
    mayChange.test(text) ? (keepDigits as (name: string, value: unknown) => unknown) : undefined,
  );
