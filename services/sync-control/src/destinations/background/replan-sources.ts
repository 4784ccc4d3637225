import { randomUUID } from 'node:crypto';
import { storedNaming } from '@secrets/destinations';
import type { InspectedSecret } from '../../changes/secrets-client.ts';
import type { Context } from '../../context.ts';
import type { AssociationRow } from '../../queries/associations/associations.ts';
import { findGranularity } from '../../queries/destinations/destinations.ts';

/** The secrets service decrypts these. */
const inspectedAtOnce = 20;

/**
 * Returns the states of the secrets of associations of one destination, by secret ID. Unknown ones are left out. Values
 * are opened only at secret-key granularity; otherwise the keys do not matter and are left out.
 */
export async function readSources(
  { db, secrets }: Pick<Context, 'db' | 'secrets'>,
  associations: readonly AssociationRow[],
): Promise<Map<string, InspectedSecret>> {
  const [first] = associations;
  if (first === undefined) return new Map();
  const ofDestination = await findGranularity(db, first.destinationId);
  const isByKey = ({ naming }: AssociationRow) =>
    (storedNaming(naming).granularity ?? ofDestination) === 'secret-key';
  const found: InspectedSecret[] = [];
  const whole = idsOf(associations.filter((one) => !isByKey(one)));
  if (whole.length > 0)
    for (const revision of await secrets.revisions(randomUUID(), whole))
      found.push({ ...revision, readable: true, keys: [] });
  const byKey = idsOf(associations.filter(isByKey));
  for (let start = 0; start < byKey.length; start += inspectedAtOnce)
    found.push(...(await secrets.inspect(randomUUID(), byKey.slice(start, start + inspectedAtOnce))));
  return new Map(found.map((secret) => [secret.secret_id, secret]));
}

const idsOf = (associations: readonly AssociationRow[]): string[] => [
  ...new Set(associations.map(({ secretId }) => secretId)),
];
