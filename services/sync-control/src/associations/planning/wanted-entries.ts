import { type DestinationDescription, externalName, formerName } from '@secrets/destinations';
import { invalid, Problem } from '@secrets/domain';
import type { NewEntry } from '@secrets/sync-entries';
import type { NamingScheme, UnnamedKey } from '../../queries/associations/associations.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';

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

/**
 * Returns why a secret with these keys has nothing to push at secret-path granularity, as the end of a sentence. Nothing is known
 * of a secret without keys: it may have no readable version.
 */
export const whyNoValue = (
  keys: readonly string[],
  { value_key: key = '' }: DestinationRow['settings'],
): string | undefined =>
  key === '' || keys.length === 0 || keys.includes(String(key))
    ? undefined
    : `no key ${String(key)}, which is the value_key of the destination`;

/** Properties of a destination that external names depend on. */
interface NamedDestination {
  type: string;
  name: string;
  shape: NamingScheme;
}

/** The template and the granularity that a destination has now. */
export const namingSchemeOf = ({ settings }: Pick<DestinationRow, 'settings'>): NamingScheme => ({
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
  const context = { ...nameContext(destination, secret, subKey), prefix };
  const name = externalName(description, context);
  const former = formerName(description, context);
  return {
    subKey,
    externalName: name,
    collisionKey: description.nameRule.collisionKey(name),
    ...(former === undefined ? {} : { formerName: former }),
  };
}

/** The keys of a changed secret that can be synced, and those that cannot. */
interface PossibleEntries {
  entries: NewEntry[];
  refused: UnnamedKey[];
}

/**
 * Returns the wanted entries like `wantedEntries`, for changes that no request made and that cannot be refused, such as
 * those of a secret: a key is left out, with the reason, if its name is not allowed or already used by another key. It
 * does not hold up the others. `kept` are entries of other keys that stay.
 */
export function possibleEntries(
  description: DestinationDescription,
  destination: NamedDestination,
  secret: NamedSecret,
  { prefix, kept = [] }: { prefix: string; kept?: readonly NewEntry[] },
): PossibleEntries {
  const distinct = distinctEntries(kept);
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

/** Collects entries; throws `conflict` for an entry whose name another one has, or one of those that are kept. */
function distinctEntries(kept: readonly NewEntry[] = []): {
  entries: NewEntry[];
  add(entry: NewEntry): void;
} {
  const byName = new Map(kept.map((entry) => [entry.collisionKey, entry]));
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
