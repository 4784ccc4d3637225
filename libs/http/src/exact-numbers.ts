/** Whether a text can hold a number that loses digits: cheap, and sometimes true for one that does not. */
const mayLose = /[\d.]{16}|\d[eE][+-]?\d/;

type Reviver = (this: unknown, name: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * The name of a field of a JSON text whose number would not be kept as it was sent: one with more digits than a double
 * has, or too large or too small for it. Undefined when there is none, or the text is no JSON. A secret that came back
 * with other digits would be worse than a refusal; how the same number is spelt (`1.0`, `1e2`) is not kept.
 */
export function inexactNumber(body: Buffer): string | undefined {
  const text = body.toString('utf8').replace(/^\ufeff/, ''); // the parser that follows skips the mark too
  if (!mayLose.test(text)) return undefined;
  let found: string | undefined;
  const look: Reviver = (name, value, context) => {
    if (typeof value === 'number' && !isExact(value, context?.source ?? '')) found ??= name;
    return value;
  };
  try {
    JSON.parse(text, look as (name: string, value: unknown) => unknown);
  } catch {
    return undefined; // the parser that follows says so
  }
  return found;
}

/** JSON is written with the fewest digits that mean the same double: these are what the reader of a secret gets. */
const isExact = (value: number, source: string): boolean =>
  Number.isFinite(value) && plainDecimal(String(value)) === plainDecimal(source);

const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/** The significant digits of a decimal number and the power of ten behind them: one spelling for each number. */
function plainDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', power = '0'] = decimal.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--; // a pattern for zeros at the end takes time in the square of their number
  return end === 0
    ? '0'
    : `${sign}${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`;
}
