import { randomUUID } from 'node:crypto';
import { currentIdentity, type StoredIdentity, storedIdentity } from '@secrets/access';
import { type Caller, requireCapability, requireGrant } from '@secrets/caller';
import type { Tx } from '@secrets/db';
import { invalid, literalBeginning, notFound, Problem, parsePattern } from '@secrets/domain';
import type { Context } from '../../context.ts';
import { countRules, insertRule, lockRule, type RuleRow, updateRule } from '../../queries/rules/rules.ts';
import { requireNoPurge } from '../background/require-no-purge.ts';
import { type DestinationRef, requireDestination, requireLockedDestination } from '../require-destination.ts';
import { sealOwner } from './stored-owner.ts';

/** A rule of a destination by its name. */
export interface RuleRef extends DestinationRef {
  rule: string;
}

/** The settings of a rule. In a patch, those that are undefined keep their values. */
export interface RuleSettings {
  mount: string;
  path: string;
  exclude: readonly string[];
  metadataMatch: Readonly<Record<string, string>>;
}

export interface RuleWrite {
  /** Merges the settings into those that the rule has, given if it exists. */
  settingsOf(existing: RuleSettings | undefined): RuleSettings;
  mayCreate: boolean;
  /** The entity whose rights it has; by default, the identity of the caller. */
  owner: string | undefined;
}

/** Rules of one destination, and of all. */
const maxRules = { ofDestination: 1_000, ofAll: 10_000 };

/**
 * Writes a rule (docs/conventions/rules.md#writing-a-rule), whose next run begins at once. Throws `not_found` if the destination
 * does not exist, or a rule to be patched; `invalid` if there is no such mount or its owner may do nothing there; `forbidden` if
 * the caller may not write it, or name another owner; `conflict` if the rule is being deleted, the destination is being purged,
 * or there are too many rules.
 */
export async function saveRule(
  context: Context,
  caller: Caller,
  ref: RuleRef,
  write: RuleWrite,
): Promise<void> {
  const { keyRing, secrets, db } = context;
  const { id: destinationId } = await requireDestination(context, caller, ref);
  const existing = await readExisting(context, caller, destinationId, ref, write);
  const settings = write.settingsOf(existing);
  const { mount_id: mountId, mount_path: mount } = await secrets.preview(
    caller,
    settings.mount,
    'any',
    false,
  );
  const identity = ownerOf(caller, write.owner);
  await requireRights(context, identity, { mount, requestId: caller.requestId });
  const selection = { ...settings, mountId, mount };
  const id = existing?.id ?? randomUUID();
  const owner = { identity, since: new Date().toISOString() };
  const sealedOwner = sealOwner(keyRing, { ...selection, id }, owner);
  const beginning = literalBeginning(parsePattern(settings.path));
  await db.transaction(async (tx) => {
    const destination = await requireLockedDestination(tx, caller, ref);
    requireNoPurge(destination);
    const locked = await lockRule(tx, destination.id, ref.rule);
    if (locked?.id !== existing?.id || locked?.version !== existing?.version) throw overtaken();
    const rule = { ...selection, id, beginning, sealedOwner };
    if (locked !== undefined) return updateRule(tx, rule);
    await requireRoom(tx, destination.id);
    await insertRule(tx, destination.id, ref.rule, rule);
  });
}

async function readExisting(
  { db }: Context,
  caller: Caller,
  destinationId: string,
  ref: RuleRef,
  { mayCreate }: RuleWrite,
): Promise<RuleRow | undefined> {
  const existing = await db.transaction((tx) => lockRule(tx, destinationId, ref.rule));
  if (existing === undefined && !mayCreate) throw notFound();
  if (mayCreate) requireGrant(caller, existing !== undefined);
  if (existing?.phase === 'ending')
    throw new Problem('conflict', 'this rule is being deleted; once reading it returns 404, create it again');
  return existing;
}

const overtaken = () =>
  new Problem('conflict', 'the rule was written by another request meanwhile; try again');

/** Whose rights the rule has. Only `sudo` permits naming somebody else. */
function ownerOf(caller: Caller, owner: string | undefined): StoredIdentity {
  if (owner !== undefined && owner !== caller.entityId) {
    requireCapability(caller, 'sudo');
    const { namespace, tokenNamespace } = caller;
    return { entityId: owner, accessor: null, policies: [], displayName: '', namespace, tokenNamespace };
  }
  const identity = storedIdentity(caller);
  if (identity === undefined)
    throw invalid('owner: a batch token without an entity cannot own a rule: nothing identifies it later');
  return identity;
}

/** Throws `invalid` if the owner has no rights in the mount: the rule would never associate anything. */
async function requireRights(
  { db, policies }: Context,
  identity: StoredIdentity,
  { mount, requestId }: { mount: string; requestId: string },
): Promise<void> {
  const current = await currentIdentity(db, identity, requestId);
  if ('reason' in current) throw invalid(`owner: the rule would have no rights: ${current.reason}`);
  if (await policies.mayDoBelow(current.caller, `${mount}/data`)) return;
  throw invalid(
    identity.entityId === null
      ? `owner: the policies of the token permit nothing in ${mount}/data`
      : `owner: the policies of the entity and its groups permit nothing in ${mount}/data; those of its tokens do not count`,
  );
}

async function requireRoom(tx: Tx, destinationId: string): Promise<void> {
  const counted = await countRules(tx, destinationId, maxRules);
  if (counted.ofDestination >= maxRules.ofDestination)
    throw new Problem('conflict', `a destination has at most ${maxRules.ofDestination} rules`);
  if (counted.ofAll >= maxRules.ofAll)
    throw new Problem('conflict', `an installation has at most ${maxRules.ofAll} rules`);
}
