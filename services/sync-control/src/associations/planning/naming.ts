import { type Naming, storedNaming } from '@secrets/destinations';
import { canonicalJson } from '@secrets/domain';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';

/** Returns a destination that has the naming of a rule, or that of an association, in place of its own. */
export const withNaming = <Destination extends Pick<DestinationRow, 'settings'>>(
  destination: Destination,
  naming: unknown,
): Destination => ({
  ...destination,
  settings: { ...destination.settings, ...storedNaming(naming) },
});

/** Returns why a rule cannot hold an association that was made with a naming; undefined if it can, as its own is the same. */
export function whyOtherNaming(ofRule: Naming, ofAssociation: unknown): string | undefined {
  const [wanted, made] = [ofRule, ofAssociation].map((naming) => canonicalJson({ ...storedNaming(naming) }));
  if (wanted === made) return undefined;
  return (
    'the association of this secret was made with another secret_name_template, granularity or value_key, by hand or by another rule; ' +
    'it keeps them until nothing holds it'
  );
}
