/** A measured value next to what it is compared with and the target that it has to reach. */
export interface Figure {
  /** What was measured; unique within its report. */
  name: string;
  measured: number;
  unit: string;
  /** The same on another system, or without what is examined, in the same run. */
  peer?: { name: string; measured: number };
  /** `measured / peer.measured`; of several rounds, the median of their ratios. */
  ratio?: number;
  target?: Target;
  /** The value that `measured` must reach, or not exceed, to meet the target; in the same unit. */
  limit?: number;
  met?: boolean;
}

/** Bounds of the value, or of its ratio to the peer. Both bounds are inclusive. */
export interface Target {
  of: 'ratio' | 'measured';
  atLeast?: number;
  atMost?: number;
}

type Input = Pick<Figure, 'name' | 'measured' | 'unit' | 'peer' | 'target'> & {
  /** Default: that of the two values. */
  ratio?: number;
};

/** Derives the ratio, the limit, and whether the target is met. A target that cannot be checked is not met. */
export function figure({ ratio, ...given }: Input): Figure {
  const { measured, peer, target } = given;
  const derived = { ...given, ...(peer && { ratio: ratio ?? measured / peer.measured }) };
  if (target === undefined) return derived;
  const { atLeast = Number.NEGATIVE_INFINITY, atMost = Number.POSITIVE_INFINITY } = target;
  const bound = target.atLeast ?? atMost;
  const limit = target.of === 'measured' ? bound : bound * (peer?.measured ?? Number.NaN);
  const value = (target.of === 'measured' ? measured : derived.ratio) ?? Number.NaN;
  return { ...derived, limit, met: value >= atLeast && value <= atMost };
}

/** Says what a target demands, such as `≥ 2 × OpenBao` or `≤ 30 ms`. */
export function describeTarget({ target, unit, peer }: Figure): string {
  if (target === undefined) return '';
  const { atLeast, atMost } = target;
  const bounds = [atLeast === undefined ? '' : `≥ ${atLeast}`, atMost === undefined ? '' : `≤ ${atMost}`];
  const bound = bounds.filter((each) => each !== '').join(' and ');
  return target.of === 'measured' ? `${bound} ${unit}` : `${bound} × ${peer?.name ?? 'the peer'}`;
}

/** The cell of a table for `met`. */
export const verdictOf = ({ met }: Figure): string => (met === undefined ? '' : met ? 'yes' : 'NO');

/** Formats a number with three significant digits, or without decimals. JSON has null for what could not be measured. */
export function shortNumber(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–';
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));
}

/** The columns of `figureRow`. */
export const figureColumns = ['', 'figure', 'compared with', 'ratio', 'target', 'met'];

/** Returns the row of a figure in a table. */
export const figureRow = (each: Figure, digits = 1): string[] => [
  `${each.name}, ${each.unit}`,
  each.measured.toFixed(digits),
  each.peer?.measured.toFixed(digits) ?? '',
  each.ratio?.toFixed(2) ?? '',
  describeTarget(each),
  verdictOf(each),
];
