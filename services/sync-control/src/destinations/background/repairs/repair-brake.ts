import type { BrakeLimits } from '../../../changes/removal-brake.ts';

/**
 * The number of external secrets of a destination that are repaired without a confirmation; more, if the brake on removals
 * permits more. A repair is less final than a removal.
 */
const leastEntries = 50;

/** The number of entries of a destination up to which its repairs are never held. */
export const neverHeld = ({ minEntries }: BrakeLimits): number => Math.max(leastEntries, minEntries);

/**
 * Returns whether an operator must confirm repairs after so many of a destination's external secrets were found to have
 * drifted.
 */
export const mustHold = (drifted: number, entries: number, limits: BrakeLimits): boolean =>
  drifted > neverHeld(limits) && drifted > entries * limits.share;
