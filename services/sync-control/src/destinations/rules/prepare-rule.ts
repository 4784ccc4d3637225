import { currentIdentity, type StoredIdentity, storedIdentity } from '@secrets/access';
import { type Caller, requireCapability, requireGrant } from '@secrets/caller';
import { findDescription, type Naming, namingFields, requireNaming } from '@secrets/destinations';
import { invalid, notFound, Problem } from '@secrets/domain';
import type { Context } from '../../context.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { countHolds } from '../../queries/rules/rule-holds.ts';
import { findRule, type RuleRow, type RuleSelection } from '../../queries/rules/rules.ts';
import { type DestinationRef, requireDestination } from '../require-destination.ts';

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
  naming: Naming;
}

export interface RuleWrite {
  /** Merges the settings into those that the rule has, given if it exists. */
  settingsOf(existing: RuleSettings | undefined): RuleSettings;
  mayCreate: boolean;
  /** Whether it needs the capability to create the rule, or to update it, by whether it exists. */
  needsGrant: boolean;
  /** The entity whose rights it has; by default, the identity of the caller. */
  owner: string | undefined;
}

/** A rule as it would be written. */
export interface PreparedRule {
  destination: DestinationRow;
  name: string;
  existing: RuleRow | undefined;
  selection: RuleSelection;
  /** Whose rights it has. */
  identity: StoredIdentity;
}

/**
 * Checks what a write of a rule asks for, and finds what it refers to. Throws as `saveRule`, except where that depends on the
 * moment of the write.
 */
export async function prepareRule(
  context: Context,
  caller: Caller,
  ref: RuleRef,
  write: RuleWrite,
): Promise<PreparedRule> {
  const destination = await requireDestination(context, caller, ref);
  const existing = await findRule(context.db, destination.id, ref.rule);
  if (existing === undefined && !write.mayCreate) throw notFound();
  if (write.needsGrant) requireGrant(caller, existing !== undefined);
  requireNotEnding(existing);
  const settings = write.settingsOf(existing);
  requireNaming(findDescription(destination.type), destination.settings, settings.naming);
  await requireSameNaming(context, existing, settings);
  const { secrets } = context;
  const { mount_id: mountId, mount_path: mount } = await secrets.preview(
    caller,
    settings.mount,
    'any',
    false,
  );
  const identity = ownerOf(caller, write.owner);
  await requireRights(context, identity, { mount, requestId: caller.requestId });
  return { destination, name: ref.rule, existing, selection: { ...settings, mountId, mount }, identity };
}

/** Throws `conflict` if the naming of a rule changes while it holds associations: they keep the one that they were made with. */
async function requireSameNaming(
  { db }: Context,
  existing: RuleRow | undefined,
  { naming }: RuleSettings,
): Promise<void> {
  if (existing === undefined) return;
  const changed = namingFields.find((field) => existing.naming[field] !== naming[field]);
  if (changed === undefined || (await countHolds(db, existing.id, 1)) === 0) return;
  throw new Problem(
    'conflict',
    `${changed}: cannot be changed while the rule holds associations, which keep their names; write another rule, or delete this one first`,
  );
}

/** Throws `conflict` if a rule is being deleted. */
export function requireNotEnding(rule: RuleRow | undefined): void {
  if (rule?.phase === 'ending')
    throw new Problem('conflict', 'this rule is being deleted; once reading it returns 404, create it again');
}

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
