/** A figure next to what it is compared with. */
export interface Comparison {
  what: string;
  figure: number;
  /** A limit of the same machine, or the same figure without load; undefined if the target is absolute. */
  base: number | undefined;
  /** In words. */
  target: string;
  isMet: boolean;
  digits?: number;
}

/** The columns of `targetRow`. */
export const targetColumns = ['', 'figure', 'base', 'figure / base', 'target', 'met'];

/** Returns the row of a comparison. */
export function targetRow({ what, figure, base, target, isMet, digits = 1 }: Comparison): string[] {
  const of = base === undefined ? ['', ''] : [base.toFixed(digits), (figure / base).toFixed(2)];
  return [what, figure.toFixed(digits), ...of, target, verdict(isMet)];
}

/** The text of the column `met`. */
export const verdict = (isMet: boolean): string => (isMet ? 'yes' : 'NO');
