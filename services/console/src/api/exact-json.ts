interface JsonText {
  /** The text of a number, as it was written. */
  source?: string;
}

/** Not in every browser; where it is missing, a number with more digits than JavaScript has is rounded. */
const raw = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;

type Reviver = (key: string, value: unknown, context?: JsonText) => unknown;

const keepDigits: Reviver = (_, value, context) =>
  typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
    ? (raw?.(context.source) ?? value)
    : value;

/** Parses JSON so that `JSON.stringify` returns numbers with all their digits. @throws SyntaxError */
export const parseExact = (text: string): unknown =>
  JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
