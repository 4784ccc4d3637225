/** Matches every text with a number that would lose digits, and some others: a cheap first check. */
const mayLoseDigits = /[\d.]{16}|\d[eE][+-]?\d/;

type Reviver = (this: unknown, name: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * Finds a number in a JSON text that a double cannot represent: too many digits, too large or too small. Returns its
 * path, such as `data.ports.1`; undefined if there is none or the text is not JSON. A secret that changed its digits
 * would be worse than an error. The notation of a number (`1.0`, `1e2`) is not preserved.
 */
export function inexactNumber(body: Buffer): string | undefined {
  const text = body.toString('utf8').replace(/^\ufeff/, ''); // the JSON parser that runs next also skips the byte order mark
  if (!mayLoseDigits.test(text)) return undefined;
  const names: string[] = [];
  let holder: unknown;
  // The reviver visits a value before its container: from the number on, it collects the names up to the body, whose own is empty.
  const visit: Reviver = function (name, value, context) {
    if (names.length === 0 ? isChanged(value, context?.source) : value === holder) {
      names.unshift(name);
      holder = this;
    }
    return value;
  };
  try {
    JSON.parse(text, visit as (name: string, value: unknown) => unknown);
  } catch {
    return undefined; // the JSON parser that runs next reports it
  }
  return names.length === 0 ? undefined : names.slice(1).join('.') || 'the body';
}

const isChanged = (value: unknown, source = ''): boolean =>
  typeof value === 'number' && !isExact(value, source);

/** JSON.stringify writes the shortest digits that identify a double: this is what the reader of a secret receives. */
const isExact = (value: number, source: string): boolean =>
  !mayLoseDigits.test(source) ||
  (Number.isFinite(value) && plainDecimal(String(value)) === plainDecimal(source));

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** The significant digits of a decimal number and its power of ten: one canonical form per number. */
function plainDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = decimal.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--; // a regular expression for trailing zeros takes quadratic time
  return end === 0
    ? '0'
    : `${sign}${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`;
}
