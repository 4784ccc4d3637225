import { builtInTags, ownerTag, prefixOfTags, releasedOwner } from '@secrets/destinations';
import { type Belonging, Fault } from '@secrets/domain';

/** Destination that an external secret belongs to, according to its built-in tags. */
export interface Owner {
  /** The installation's prefix. */
  prefix: string;
  destinationId: string;
}

/** The name and the tags of an external secret, which say to whom it belongs. */
export interface OwnedSecret {
  name: string;
  /** Empty for a destination without tags. */
  tags: Readonly<Record<string, string>>;
  /** Whether it is the one that the last put of the entry wrote. */
  isRemembered: boolean;
  /** What contains the built-in tags, for messages; tags by default. */
  marks?: 'tags' | 'comment';
}

/**
 * Whether an external secret belongs to the destination: it has the destination's tag, or it is the one written before, or one
 * that its destination has released, and no other destination has marked it since (docs/conventions/sync.md#ownership).
 */
export const belongsTo = (owner: Owner, { tags, isRemembered }: OwnedSecret): boolean =>
  hasOwnerTag(tags, owner) ||
  ((isRemembered || ownersOf(tags, owner).includes(releasedOwner)) && !isMarkedByAnother(tags, owner));

/** Whose an external secret is, unless the provider manages it. */
export function belongingOf(owner: Owner, secret: OwnedSecret): Belonging {
  if (belongsTo(owner, secret)) return 'own';
  return isMarkedByAnother(secret.tags, owner) ? 'other' : 'none';
}

/**
 * Whether a put may take over an external secret that no destination has marked. A list permits it too, and also names
 * destinations that were deleted: their marks count as none.
 */
export type Overwrite = boolean | readonly string[];

/** The fault of an external secret that other destinations have marked. */
class MarkedByAnother extends Fault {
  /** Their IDs; empty if one of them may be of another installation. */
  readonly ownerIds: readonly string[];

  constructor(message: string, ownerIds: readonly string[]) {
    super('conflict', message);
    this.ownerIds = ownerIds;
  }
}

/**
 * Requires that a put may write an external secret that exists: it belongs to the destination, or `overwrite` permits
 * taking it over and no other destination has marked it.
 * @throws `Fault` `conflict`
 */
export function requireWritable(owner: Owner, secret: OwnedSecret, overwrite: Overwrite): void {
  if (belongsTo(owner, secret)) return;
  const name = JSON.stringify(secret.name);
  const deleted = overwrite === true || overwrite === false ? [] : overwrite;
  const others = otherOwners(secret.tags, owner);
  if (!others.every((id) => deleted.includes(id))) {
    throw new MarkedByAnother(
      `${name} belongs to another destination and is not changed; if that was deleted, set "overwrite" to take it over, or ${howToUnmark[secret.marks ?? 'tags']}`,
      hasOtherPrefix(secret.tags, owner) ? [] : others,
    );
  }
  if (overwrite !== false) return;
  throw new Fault(
    'conflict',
    `${name} exists and does not belong to this destination; set "overwrite" to take it over`,
  );
}

/**
 * Returns with what `overwrite` a put that has failed may be repeated, because deleted destinations have left the external
 * secret behind; undefined if it must not be.
 */
export async function overwriteDespite(
  error: unknown,
  { overwrite }: { overwrite: Overwrite },
  areDeleted: (ids: readonly string[]) => Promise<boolean>,
): Promise<Overwrite | undefined> {
  if (overwrite === false || !(error instanceof MarkedByAnother)) return undefined;
  const known = overwrite === true ? [] : overwrite;
  const ids = error.ownerIds.filter((id) => !known.includes(id));
  return ids.length > 0 && (await areDeleted(ids)) ? [...known, ...ids] : undefined;
}

const howToUnmark = {
  tags: 'remove its built-in tags from the secret',
  comment: 'remove the comment of the secret',
};

const hasOwnerTag = (tags: Readonly<Record<string, string>>, { prefix, destinationId }: Owner): boolean =>
  Object.hasOwn(tags, ownerTag(prefix)) && tags[ownerTag(prefix)] === destinationId;

/** Whether another destination has marked the secret: one of this installation, or of one with another prefix. */
const isMarkedByAnother = (tags: Readonly<Record<string, string>>, owner: Owner): boolean =>
  otherOwners(tags, owner).length > 0;

const otherOwners = (tags: Readonly<Record<string, string>>, owner: Owner): string[] =>
  ownersOf(tags, owner).filter((id) => id !== owner.destinationId && id !== releasedOwner);

/** Whether the built-in tags have another prefix, so that the put does not replace all of them. */
const hasOtherPrefix = (tags: Readonly<Record<string, string>>, { prefix }: Owner): boolean =>
  (prefixOfTags(tags) ?? prefix) !== prefix;

/** The values of the owner tags: that of this installation, and that of the one that has set the built-in tags. */
function ownersOf(tags: Readonly<Record<string, string>>, { prefix }: Owner): string[] {
  const keys = [...new Set([prefix, prefixOfTags(tags) ?? prefix].map(ownerTag))];
  return keys.flatMap((key) => (Object.hasOwn(tags, key) ? (tags[key] ?? []) : []));
}

/** All tags of a destination's external secrets: its custom tags and the built-in ones, which take precedence. */
export const tagsOf = (
  customTags: Readonly<Record<string, string>>,
  { prefix, destinationId }: Owner,
): Record<string, string> => ({ ...customTags, ...builtInTags(prefix, destinationId) });

/**
 * The tag that releases an external secret. A provider that keeps deleted secrets keeps their tags, which cannot be changed any
 * more; without this, no other destination could use the name until the secret is gone.
 */
export const releasedTag = ({ prefix }: Owner): Record<string, string> => ({
  [ownerTag(prefix)]: releasedOwner,
});

/**
 * The keys of the tags to remove from an external secret that is kept, so that it belongs to no destination; none if it is not
 * the destination's.
 */
export const marksOf = (owner: Owner, tags: Readonly<Record<string, string>>): string[] =>
  hasOwnerTag(tags, owner) ? Object.keys(builtInTags(owner.prefix, owner.destinationId)) : [];

/** The tags of an external secret without those that `marksOf` returns. */
export function withoutMarks(owner: Owner, tags: Readonly<Record<string, string>>): Record<string, string> {
  const marks = marksOf(owner, tags);
  return Object.fromEntries(Object.entries(tags).filter(([key]) => !marks.includes(key)));
}

/**
 * Returns the tags to set and the keys to remove so that an external secret has the `wanted` tags. Only keys in `ours`,
 * which the last put set, are removed; other tags are not managed by this service.
 */
export function tagChanges(tags: {
  wanted: Readonly<Record<string, string>>;
  present: Readonly<Record<string, string>>;
  ours: Readonly<Record<string, string>>;
}): { missing: Record<string, string>; surplus: string[] } {
  const { wanted, present, ours } = tags;
  const missing = Object.entries(wanted).filter(([key, value]) => present[key] !== value);
  const surplus = Object.keys(ours).filter(
    (key) => !Object.hasOwn(wanted, key) && Object.hasOwn(present, key),
  );
  return { missing: Object.fromEntries(missing), surplus };
}
