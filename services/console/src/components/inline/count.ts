/** A number with its noun, such as “1 association” and “1,200 associations”. */
export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
