import { type DestinationDescription, externalName } from '@secrets/destinations';
import { invalid, Problem } from '@secrets/domain';
import type { NewEntry } from '@secrets/sync-entries';
import type { Shape, UnnamedKey } from '../queries/associations.ts';
import type { DestinationRow } from '../queries/destinations.ts';

/** The sub-key of the entry that holds a whole secret. A key that is the empty string therefore cannot be a sub-key. */
const wholeSecret = '';

/**
 * The maximum number of keys of a secret that are synced at secret-key granularity, and so of entries of an association:
 * one transaction writes all of them.
 */
export const maxKeys = 1_000;

/**
 * The maximum number of entries of an association, including those whose external secrets are still to be removed. While a
 * destination is down, changed keys and names add entries and none is removed.
 */
export const maxEntries = 3 * maxKeys;

/** Returns why a key can never be synced at secret-key granularity, with any template, as the end of a sentence. */
export function whyNoSubKey(key: string): string | undefined {
  const ending = 'which cannot be synced at secret-key granularity';
  if (key === wholeSecret) return `a key that is the empty string, ${ending}`;
  if (key.includes('\0') || !key.isWellFormed()) return `a key that is no text, ${ending}`;
  return undefined;
}

/** Returns why these keys cannot all be synced at secret-key granularity, as the end of a sentence. */
export const whyTooManyKeys = ({ length }: readonly string[]): string | undefined =>
  length > maxKeys
    ? `${length} keys; at secret-key granularity, at most ${maxKeys} keys can be synced`
    : undefined;

/** What external names depend on besides the secret. */
interface NamedDestination {
  type: string;
  name: string;
  shape: Shape;
}

/** The template and the granularity that a destination has now. */
export const shapeOf = ({ settings }: Pick<DestinationRow, 'settings'>): Shape => ({
  template: String(settings.secret_name_template ?? ''),
  granularity: String(settings.granularity),
});

/** A secret, with what its external names are built from. */
export interface NamedSecret {
  mount: string;
  accessor: string;
  secretName: string;
  namespace: { id: string; path: string };
  /** Top-level keys; used at secret-key granularity. */
  keys: readonly string[];
}

/**
 * Returns the external secrets that an association needs, by the destination's granularity and template. At secret-key
 * granularity, keys that can never be synced (`whyNoSubKey`) are left out. Throws `invalid` if the destination does not
 * allow a name, `conflict` if two keys would have the same name.
 */
export function wantedEntries(
  description: DestinationDescription,
  destination: NamedDestination,
  secret: NamedSecret,
  prefix: string,
): NewEntry[] {
  const subKeys =
    destination.shape.granularity === 'secret-key'
      ? secret.keys.filter((key) => whyNoSubKey(key) === undefined)
      : [wholeSecret];
  const distinct = distinctEntries();
  for (const subKey of subKeys) distinct.add(entryOf(description, destination, secret, { subKey, prefix }));
  return distinct.entries;
}

function entryOf(
  description: DestinationDescription,
  destination: NamedDestination,
  secret: NamedSecret,
  { subKey, prefix }: { subKey: string; prefix: string },
): NewEntry {
  const name = externalName(description, { ...nameContext(destination, secret, subKey), prefix });
  return { subKey, externalName: name, collisionKey: description.nameRule.collisionKey(name) };
}

/** The keys of a changed secret that can be synced, and those that cannot. */
interface PossibleEntries {
  entries: NewEntry[];
  refused: UnnamedKey[];
}

/**
 * As `wantedEntries`, where no request is refused, such as for a changed secret: a key whose name the destination does not
 * allow, or another key has, is left out with the reason. It does not hold up the others.
 */
export function possibleEntries(
  description: DestinationDescription,
  destination: NamedDestination,
  secret: NamedSecret,
  prefix: string,
): PossibleEntries {
  const distinct = distinctEntries();
  const refused: UnnamedKey[] = [];
  const isWhole = destination.shape.granularity !== 'secret-key';
  for (const key of isWhole ? [wholeSecret] : secret.keys) {
    try {
      const why = isWhole ? undefined : whyNoSubKey(key);
      if (why !== undefined) throw invalid(`the secret has ${why}`);
      distinct.add(entryOf(description, destination, secret, { subKey: key, prefix }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refused.push({ key, reason: error.message });
    }
  }
  return { entries: distinct.entries, refused };
}

function nameContext(destination: NamedDestination, secret: NamedSecret, subKey: string) {
  const { namespace, mount, accessor, secretName } = secret;
  return {
    template: destination.shape.template,
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

/** Collects entries; throws `conflict` for an entry whose name another one has. */
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
