/** Whether a text can hold a number that loses digits: cheap, and sometimes true for one that does not. */
const mayLose = /[\d.]{16}|\d[eE][+-]?\d/;

type Reviver = (this: unknown, name: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * Where in a JSON text, such as `data.ports.1`, a number stands that would not be kept as it was sent: one with more
 * digits than a double has, or too large or too small for it. Undefined when there is none, or the text is no JSON. A
 * secret that came back with other digits would be worse than a refusal; how a number is spelt (`1.0`, `1e2`) is not kept.
 */
export function inexactNumber(body: Buffer): string | undefined {
  const text = body.toString('utf8').replace(/^\ufeff/, ''); // the parser that follows skips the mark too
  if (!mayLose.test(text)) return undefined;
  const names: string[] = [];
  let holder: unknown;
  // A value is seen before what holds it: from the number on, the names are gathered up to the body, whose own is empty.
  const look: Reviver = function (name, value, context) {
    if (names.length === 0 ? isChanged(value, context?.source) : value === holder) {
      names.unshift(name);
      holder = this;
    }
    return value;
  };
  try {
    JSON.parse(text, look as (name: string, value: unknown) => unknown);
  } catch {
    return undefined; // the parser that follows says so
  }
  return names.length === 0 ? undefined : names.slice(1).join('.') || 'the body';
}

const isChanged = (value: unknown, source = ''): boolean =>
  typeof value === 'number' && !isExact(value, source);

/** JSON is written with the fewest digits that mean the same double: these are what the reader of a secret gets. */
const isExact = (value: number, source: string): boolean =>
  !mayLose.test(source) || (Number.isFinite(value) && plainDecimal(String(value)) === plainDecimal(source));

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
