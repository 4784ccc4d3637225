/** A change of an external secret that somebody makes beside the service. */
export type HandAction = 'edit' | 'delete' | 'recreate';

/** An external secret as it is in the store, and the drift that looks have found in it. */
export interface External {
  /** Undefined if the store does not have it. */
  value: string | undefined;
  drift: string | null;
}

/** The drift policies of destinations whose external secrets are changed by hand. */
export const handPolicies = ['report', 'repair'] as const;
export type HandPolicy = (typeof handPolicies)[number];

/** An external secret that was changed by hand. */
export interface Changed {
  policy: HandPolicy;
  /** The value that the service had pushed. */
  pushed: string;
  left: External;
}

/** Returns the state of what was changed by hand once everything was looked at. Secrets of somebody else are never touched. */
export const expectedOf = ({ policy, pushed, left }: Changed): External =>
  policy === 'report' || left.drift === 'foreign' ? left : { value: pushed, drift: 'none' };

/**
 * Returns the state in which an action leaves an external secret.
 * @param before the state in which an earlier one has left it; undefined if there was none since the service has pushed it
 */
export function afterAction(before: External | undefined, action: HandAction, value: string): External {
  if (action === 'delete') return { value: undefined, drift: 'missing' };
  const isForeign = action === 'recreate' || before?.drift === 'foreign';
  return { value, drift: isForeign ? 'foreign' : 'changed' };
}

/** Names of external secrets that are not as the policies leave what was changed by hand. */
export interface Differences {
  /** The service has touched them, which it must never do. */
  touched: string[];
  /** Looks have not found their drift yet, or it is not repaired yet. */
  unfinished: string[];
}

export function differencesByHand(
  changed: ReadonlyMap<string, Changed>,
  seen: ReadonlyMap<string, External>,
): Differences {
  const differences: Differences = { touched: [], unfinished: [] };
  for (const [name, one] of changed) {
    const { value, drift } = expectedOf(one);
    const now = seen.get(name);
    if (now?.value === value && now?.drift === drift) continue;
    const isTouched = value === one.left.value && now?.value !== value;
    differences[isTouched ? 'touched' : 'unfinished'].push(name);
  }
  return differences;
}
