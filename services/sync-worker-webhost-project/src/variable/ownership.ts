import { builtInTags, ownerTag } from '@secrets/destinations';
import { type Belonging, Fault } from '@secrets/domain';
import {
  belongingOf,
  belongsTo,
  type Overwrite,
  type OwnedSecret,
  type Owner,
  requireWritable,
} from '@secrets/sync-worker';
import type { Variable } from '../api/schema.ts';
import type { Remembered } from './remembered.ts';

/** https://vercel.com/docs/rest-api/projects/create-one-or-more-environment-variables */
const maxCommentLength = 500;

const markForm = /(?: \| )?[\w-]+: [\w-]+(?:, [\w-]+: [\w-]+)* \(changes are overwritten\)/g;

/**
 * The comment of the destination's records: what others have written there, and the built-in tags, for the driver and for
 * people.
 */
export const commentOf = ({ prefix, destinationId }: Owner, others = ''): string => {
  const tags = Object.entries(builtInTags(prefix, destinationId)).map(([key, value]) => `${key}: ${value}`);
  const mark = `${tags.join(', ')} (changes are overwritten)`;
  const kept = withoutMark(others);
  return kept === '' ? mark : `${kept.slice(0, maxCommentLength - mark.length - 3)} | ${mark}`;
};

/** Returns the part of a comment that others have written. */
export const withoutMark = (comment: string): string => comment.replace(markForm, '').trim();

const tagsIn = (comment: string): Record<string, string> =>
  Object.fromEntries([...comment.matchAll(/([\w-]+): ([\w-]+)/g)].map(([, key, value]) => [key, value]));

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the ID of the destination of this installation that the comment names; undefined if it names none. */
export function markedBy({ prefix }: Owner, { comment }: Variable): string | undefined {
  const id = tagsIn(comment)[ownerTag(prefix)];
  return id !== undefined && idForm.test(id) ? id : undefined;
}

/** Whether the comment says that the record is the destination's. */
export const isMarked = (owner: Owner, { key, comment }: Variable): boolean =>
  belongsTo(owner, { name: key, tags: tagsIn(comment), isRemembered: false });

/**
 * Whether the record is the destination's: its comment says so, or its ID was stored and no other destination has
 * marked it since.
 */
export const isOwn = (owner: Owner, variable: Variable, known: Remembered | undefined): boolean =>
  belongsTo(owner, ownedSecret(variable, known));

/**
 * The destination's records of a name: those with this name, and those whose ID was stored, also if somebody has
 * renamed them or tied them to a branch since. A record for a branch that has only the mark was split off from one of
 * the destination's.
 */
export const ownRecords = (
  owner: Owner,
  variables: readonly Variable[],
  name: string,
  known: Remembered | undefined,
): Variable[] =>
  variables.filter(
    (variable) =>
      (variable.key === name || isStored(variable, known)) &&
      isOwn(owner, variable, known) &&
      !variable.isManagedElsewhere,
  );

const isStored = ({ id }: Variable, known: Remembered | undefined): boolean =>
  known?.records.some((record) => record.id === id) ?? false;

/**
 * Throws `Fault` `conflict` unless the record may be taken over. Variables of the provider's system, of an integration
 * and of another destination never are.
 */
export function requireUsable(owner: Owner, variable: Variable, overwrite: Overwrite): void {
  if (variable.isManagedElsewhere) {
    throw new Fault(
      'conflict',
      `${JSON.stringify(variable.key)} is managed by the provider or by an integration and is not changed`,
    );
  }
  requireWritable(owner, ownedSecret(variable, undefined), overwrite);
}

/** Whose a record is that is not remembered. */
export const belonging = (owner: Owner, variable: Variable): Belonging =>
  variable.isManagedElsewhere ? 'provider' : belongingOf(owner, ownedSecret(variable, undefined));

const ownedSecret = (variable: Variable, known: Remembered | undefined): OwnedSecret => ({
  name: variable.key,
  tags: tagsIn(variable.comment),
  isRemembered: isStored(variable, known),
  marks: 'comment',
});
