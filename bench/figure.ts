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
export type Target = { of: 'ratio' | 'measured' } & ({ atLeast: number } | { atMost: number });

type Input = Pick<Figure, 'name' | 'measured' | 'unit' | 'peer' | 'target'> & {
  /** Default: that of the two values. */
  ratio?: number;
};

/** Derives the ratio, the limit, and whether the target is met. A target that cannot be checked is not met. */
export function figure({ ratio, ...given }: Input): Figure {
  const { measured, peer, target } = given;
  const derived = { ...given, ...(peer && { ratio: ratio ?? measured / peer.measured }) };
  if (target === undefined) return derived;
  const bound = boundOf(target);
  const limit = target.of === 'measured' ? bound : bound * (peer?.measured ?? Number.NaN);
  const value = (target.of === 'measured' ? measured : derived.ratio) ?? Number.NaN;
  return { ...derived, limit, met: 'atLeast' in target ? value >= bound : value <= bound };
}

const boundOf = (target: Target): number => ('atLeast' in target ? target.atLeast : target.atMost);

/** Says what a target demands, such as `≥ 2 × OpenBao` or `≤ 30 ms`. */
export function describeTarget({ target, unit, peer }: Figure): string {
  if (target === undefined) return '';
  const bound = `${'atLeast' in target ? '≥' : '≤'} ${boundOf(target)}`;
  return target.of === 'measured' ? `${bound} ${unit}` : `${bound} × ${peer?.name ?? 'the peer'}`;
}

/** The cell of a table for `met`. */
export const verdictOf = ({ met }: Figure): string => (met === undefined ? '' : met ? 'yes' : 'NO');
