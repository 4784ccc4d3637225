/** A difference between an external secret and what was last pushed. */
export type Drift = 'none' | 'changed' | 'missing' | 'foreign';

/** The part of an external secret that shows its drift: its value, or only its version or the time of its last change. */
export type Evidence = 'value' | 'mark';
