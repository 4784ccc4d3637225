/** A change of an external secret that somebody makes beside the service. */
export type HandAction = 'edit' | 'delete' | 'recreate';

/** An external secret as it is in the store, and the drift that looks have found in it. */
export interface External {
  /** Undefined if the store does not have it. */
  value: string | undefined;
  drift: string | null;
}

/** The state in which each drift policy leaves what was changed by hand, once everything was looked at. */
const expectedWith = {
  /** Nothing is touched. */
  report: (left: External): External => left,
};

/** The drift policies of destinations whose external secrets are changed by hand. */
export type HandPolicy = keyof typeof expectedWith;

/**
 * Returns the state in which an action leaves an external secret.
 * @param before the state in which an earlier one has left it; undefined if there was none since the service has pushed it
 */
export function afterAction(before: External | undefined, action: HandAction, value: string): External {
  if (action === 'delete') return { value: undefined, drift: 'missing' };
  const isForeign = action === 'recreate' || before?.drift === 'foreign';
  return { value, drift: isForeign ? 'foreign' : 'changed' };
}

/** Names of external secrets that are not as the policy leaves what was changed by hand. */
export interface Differences {
  /** They have another value: the service has touched them, or has not repaired them. */
  values: string[];
  /** They have another drift than expected, which a look may find yet. */
  drifts: string[];
}

export function differencesByHand(
  policy: HandPolicy,
  left: ReadonlyMap<string, External>,
  seen: ReadonlyMap<string, External>,
): Differences {
  const differing = (field: keyof External) =>
    [...left].filter(([name, one]) => seen.get(name)?.[field] !== expectedWith[policy](one)[field]);
  return {
    values: differing('value').map(([name]) => name),
    drifts: differing('drift').map(([name]) => name),
  };
}
