import { type ExactNumber, invalid } from '@secrets/domain';

/**
 * Returns a number that was kept as it was written, for a field in which its notation does not matter (`1.0` is 1).
 * @throws a problem (`invalid`) that names the field, if the number would lose digits
 */
export function plainNumber({ rawJSON: source }: ExactNumber, field: string): number {
  const value = Number(source);
  if (Number.isFinite(value) && plainDecimal(String(value)) === plainDecimal(source)) return value;
  throw invalid(`${field}: the number would lose digits; send it as a string`);
}

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
