import type { Check } from '../roles/check.ts';

/** A check, with what the token says in the claims that it looked at. */
type DiagnosedCheck = Pick<Check, 'check' | 'passed' | 'reached' | 'claim' | 'reason'> & {
  values: Record<string, unknown>;
};

export interface Diagnosis {
  /** Whether a login with the same request would succeed. */
  admitted: boolean;
  checks: DiagnosedCheck[];
}

/**
 * Returns a diagnosis with these checks.
 * @param valuesOf what the token says in the claims of a check, by their names
 */
export const diagnosisOf = (
  checks: readonly Check[],
  valuesOf: (claim: string) => Record<string, unknown>,
): Diagnosis => ({
  admitted: checks.every(({ passed }) => passed),
  checks: checks.map(({ isInvalid, ...shown }) => ({ ...shown, values: valuesOf(shown.claim) })),
});

/** The claims of a check that names several, and those of their values that a token has. */
export function namedValues(claims: object, names: string): Record<string, unknown> {
  const present = names.split(', ').filter((name) => Object.hasOwn(claims, name));
  return Object.fromEntries(present.map((name) => [name, (claims as Record<string, unknown>)[name]]));
}
