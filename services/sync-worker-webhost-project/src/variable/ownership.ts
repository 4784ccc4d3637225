import { builtInTags } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { belongsTo, type OwnedSecret, type Owner, requireWritable } from '@secrets/sync-worker';
import type { Variable } from '../api/schema.ts';
import type { Remembered } from './remembered.ts';

/** The comment of the destination's records: the built-in tags, for the driver and for people. */
export const commentOf = ({ prefix, destinationId }: Owner): string => {
  const tags = Object.entries(builtInTags(prefix, destinationId)).map(([key, value]) => `${key}: ${value}`);
  return `${tags.join(', ')} (changes are overwritten)`;
};

const tagsIn = (comment: string): Record<string, string> =>
  Object.fromEntries([...comment.matchAll(/([\w-]+): ([\w-]+)/g)].map(([, key, value]) => [key, value]));

/** Whether the comment says that the record is the destination's. */
export const isMarked = (owner: Owner, { key, comment }: Variable): boolean =>
  belongsTo(owner, { name: key, tags: tagsIn(comment), isRemembered: false });

/** Whether the record is the destination's: its comment says so, or its ID was stored and no other destination has marked it since. */
export const isOwn = (owner: Owner, variable: Variable, known: Remembered | undefined): boolean =>
  belongsTo(owner, ownedSecret(variable, known));

/**
 * Throws `Fault` `conflict` unless the record may be taken over. Variables of the provider's system, of an integration and of another destination never
 * are.
 */
export function requireUsable(owner: Owner, variable: Variable, overwrite: boolean): void {
  if (variable.isManagedElsewhere) {
    throw new Fault(
      'conflict',
      `${JSON.stringify(variable.key)} is managed by the provider or by an integration and is not changed`,
    );
  }
  requireWritable(owner, ownedSecret(variable, undefined), overwrite);
}

const ownedSecret = ({ id, key: name, comment }: Variable, known: Remembered | undefined): OwnedSecret => ({
  name,
  tags: tagsIn(comment),
  isRemembered: known?.records.some((record) => record.id === id) ?? false,
  marks: 'comment',
});
