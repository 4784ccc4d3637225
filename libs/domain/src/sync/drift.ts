/** The values of `drift`: differences between an external secret and what was last pushed. */
export const driftKinds = ['none', 'changed', 'missing', 'foreign', 'contested'] as const;
export type Drift = (typeof driftKinds)[number];

/** The part of an external secret that shows its drift: its value, or only its version or the time of its last change. */
export type Evidence = 'value' | 'mark';

/** The values of `drift_policy`. */
export const driftPolicies = ['report', 'repair', 'off'] as const;
export type DriftPolicy = (typeof driftPolicies)[number];
