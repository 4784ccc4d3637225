import { type DestinationDescription, externalName } from '@secrets/destinations';
import { invalid, Problem } from '@secrets/domain';
import type { NewEntry } from '@secrets/sync-entries';
import type { UnnamedKey } from './queries/associations.ts';
import type { DestinationRow } from './queries/destinations.ts';

/** The sub-key of the entry that holds all of a secret; a key that is the empty string therefore cannot be one. */
const wholeSecret = '';

/** Why a key can never be synced at secret-key granularity, whatever the template makes of it: the end of a sentence. */
export function whyNoSubKey(key: string): string | undefined {
  const ending = 'which cannot be synced at secret-key granularity';
  if (key === wholeSecret) return `a key that is the empty string, ${ending}`;
  if (key.includes('\0') || !key.isWellFormed()) return `a key that is no text, ${ending}`;
  return undefined;
}

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
 * granularity a key that cannot be one (`whyNoSubKey`) wants none. Throws `invalid` when a name cannot be used there, `conflict` when two keys would share one name.
 */
export function wantedEntries(
  description: DestinationDescription,
  destination: DestinationRow,
  secret: NamedSecret,
  prefix: string,
): NewEntry[] {
  const subKeys =
    destination.settings.granularity === 'secret-key'
      ? secret.keys.filter((key) => whyNoSubKey(key) === undefined)
      : [wholeSecret];
  const distinct = distinctEntries();
  for (const subKey of subKeys) distinct.add(entryOf(description, destination, secret, { subKey, prefix }));
  return distinct.entries;
}

function entryOf(
  description: DestinationDescription,
  destination: DestinationRow,
  secret: NamedSecret,
  { subKey, prefix }: { subKey: string; prefix: string },
): NewEntry {
  const name = externalName(description, { ...nameContext(destination, secret, subKey), prefix });
  return { subKey, externalName: name, collisionKey: description.nameRule.collisionKey(name) };
}

/** What can be followed of a changed secret's keys, and which cannot. */
export interface PossibleEntries {
  entries: NewEntry[];
  refused: UnnamedKey[];
}

/**
 * The same at secret-key granularity for a secret that changed, when there is nobody to refuse: a key whose name cannot
 * be used, or is another key's, is left out with the reason, so that it does not hold up the others.
 */
export function possibleEntries(
  description: DestinationDescription,
  destination: DestinationRow,
  secret: NamedSecret,
  prefix: string,
): PossibleEntries {
  const distinct = distinctEntries();
  const refused: UnnamedKey[] = [];
  for (const key of secret.keys) {
    try {
      const why = whyNoSubKey(key);
      if (why !== undefined) throw invalid(`the secret has ${why}`);
      distinct.add(entryOf(description, destination, secret, { subKey: key, prefix }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused.push({ key, reason: error.message });
    }
  }
  return { entries: distinct.entries, refused };
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

/** Collects entries; throws `conflict` for one whose name another has. */
function distinctEntries(): { entries: NewEntry[]; add(entry: NewEntry): void } {
  const byName = new Map<string, NewEntry>();
  const entries: NewEntry[] = [];
  const add = (entry: NewEntry) => {
    const other = byName.get(entry.collisionKey);
    if (other !== undefined) {
      const sentence = `keys ${other.subKey} and ${entry.subKey} would both be named ${entry.externalName}`;
      throw new Problem('conflict', sentence);
    }
    byName.set(entry.collisionKey, entry);
    entries.push(entry);
  };
  return { entries, add };
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
