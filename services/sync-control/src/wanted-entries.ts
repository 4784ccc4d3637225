import { type DestinationDescription, externalName } from '@secrets/destinations';
import { Problem } from '@secrets/domain';
import type { NewEntry } from '@secrets/sync-entries';
import type { DestinationRow } from './queries/destinations.ts';

/** The sub-key of the entry that holds all of a secret; a key that is the empty string therefore cannot be one. */
const wholeSecret = '';
const isNamed = (key: string): boolean => key !== wholeSecret;

/** The secret whose external names are made. */
export interface NamedSecret {
  mount: string;
  accessor: string;
  secretName: string;
  namespace: { id: string; path: string };
  /** Top-level keys; used at secret-key granularity. */
  keys: readonly string[];
}

/**
 * The external secrets that an association wants, by the destination's granularity and template; at secret-key
 * granularity a key without a name wants none. Throws `invalid` when a name cannot be used there, `conflict` when two keys would share one name.
 */
export function wantedEntries(
  description: DestinationDescription,
  destination: DestinationRow,
  secret: NamedSecret,
  prefix: string,
): NewEntry[] {
  const subKeys =
    destination.settings.granularity === 'secret-key' ? secret.keys.filter(isNamed) : [wholeSecret];
  const entries = subKeys.map((subKey) => {
    const name = externalName(description, { ...nameContext(destination, secret, subKey), prefix });
    return { subKey, externalName: name, collisionKey: description.nameRule.collisionKey(name) };
  });
  assertDistinct(entries);
  return entries;
}

/** What can be followed of a changed secret, and how many of its keys cannot. */
export interface PossibleEntries {
  entries: NewEntry[];
  refused: number;
}

/**
 * The same for a secret that changed, when there is nobody to refuse: a key whose name cannot be used, or is another
 * key's, is left out, so that it does not hold up the others.
 */
export function possibleEntries(
  description: DestinationDescription,
  destination: DestinationRow,
  secret: NamedSecret,
  prefix: string,
): PossibleEntries {
  const possible: PossibleEntries = { entries: [], refused: 0 };
  for (const key of secret.keys) {
    try {
      const [entry] = wantedEntries(description, destination, { ...secret, keys: [key] }, prefix);
      if (entry === undefined) continue;
      assertDistinct([...possible.entries, entry]);
      possible.entries.push(entry);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      possible.refused += 1;
    }
  }
  return possible;
}

function nameContext(destination: DestinationRow, secret: NamedSecret, subKey: string) {
  const { namespace, mount, accessor, secretName } = secret;
  const template = destination.settings.secret_name_template;
  return {
    template: typeof template === 'string' && template !== '' ? template : undefined,
    variables: {
      DestinationType: destination.type,
      DestinationName: destination.name,
      NamespacePath: namespace.path,
      NamespaceBaseName: baseName(namespace.path),
      NamespaceID: namespace.id,
      MountPath: mount,
      MountBaseName: baseName(mount),
      MountAccessor: accessor,
      SecretPath: secretName,
      SecretBaseName: baseName(secretName),
      ...(subKey === '' ? {} : { SecretKey: subKey }),
    },
  };
}

function assertDistinct(entries: readonly NewEntry[]): void {
  const seen = new Map<string, NewEntry>();
  for (const entry of entries) {
    const other = seen.get(entry.collisionKey);
    if (other !== undefined) {
      throw new Problem(
        'conflict',
        `keys ${other.subKey} and ${entry.subKey} would both be named ${entry.externalName}`,
      );
    }
    seen.set(entry.collisionKey, entry);
  }
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
