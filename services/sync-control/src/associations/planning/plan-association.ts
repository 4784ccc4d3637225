import type { Caller } from '@secrets/caller';
import { findDescription, pushedKey, whyValueRefused } from '@secrets/destinations';
import type { StoreState } from '@secrets/domain';
import { type Entry, entriesOf, type NewEntry } from '@secrets/sync-entries';
import type { PreviewedSecret } from '../../changes/secrets-client.ts';
import type { Context } from '../../context.ts';
import { requireNoPurge } from '../../destinations/background/require-no-purge.ts';
import { type DestinationRef, requireDestination } from '../../destinations/require-destination.ts';
import { findAssociationOfSecret, type UnnamedKey } from '../../queries/associations/associations.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { requireReadAccess, requireSyncable } from '../require-settable.ts';
import { whyTooManyEntries } from './apply-plan.ts';
import { keepFormerNames } from './keep-former-names.ts';
import { lookAtPlanned } from './look-at-planned.ts';
import { planEntries } from './plan-entries.ts';
import { takenNames } from './taken-names.ts';
import { maxKeys, namingSchemeOf, possibleEntries, whyNoValue, whyTooManyKeys } from './wanted-entries.ts';

/** The secret and the destination that a set would associate. */
interface PlanRequest extends DestinationRef {
  mount: string;
  secretName: string;
  /** Whether a worker looks at what is in the store now. */
  look: boolean;
}

/** Effect of a planned set on one external secret. */
export interface PlannedSecret {
  subKey: string;
  /** Empty if the key cannot be named. */
  externalName: string;
  change: 'new' | 'kept' | 'renamed' | 'removed';
  /** The external secret that is removed when this one is created. */
  replaces?: string;
  /** Size of the value; undefined for what is removed. */
  bytes?: number;
  /** Reasons for which this external secret would make a set fail. */
  refusals: string[];
  /** Why the destination would not accept its value. */
  valueRefusal?: string | undefined;
  /** The state of its name in the store now; undefined if it was not looked at. */
  inStore?: StoreState | undefined;
}

/** Effects of a planned set. */
export interface AssociationPlan {
  accessor: string;
  isAssociated: boolean;
  /** Whether a look was asked for. */
  isLookedAt: boolean;
  maxValueBytes: number;
  secrets: PlannedSecret[];
  /** Reasons for which the secret as a whole would make a set fail. */
  refusals: string[];
}

/**
 * Returns what a set would do, without writing anything (docs/conventions/sync-operation.md#check-and-plan). What the
 * queue and the provider would refuse is not part of it; what is in the store is, with a look. Throws as `associate` where there
 * is nothing to plan: without a destination, permission, readable secret, or during a purge.
 */
export async function planAssociation(
  context: Context,
  caller: Caller,
  request: PlanRequest,
): Promise<AssociationPlan> {
  const destination = await requireDestination(context, caller, request);
  await requireReadAccess(context, caller, request);
  const { mount, secretName, look } = request;
  const secret = await context.secrets.preview(caller, mount, secretName, look);
  requireSyncable(secret, request);
  requireNoPurge(destination);
  const { db } = context;
  const association = await findAssociationOfSecret(db, destination.id, secret.accessor, secretName);
  const existing = association === undefined ? [] : await entriesOf(db, [association.id]);
  const { accessor } = secret;
  const { maxValueBytes } = findDescription(destination.type);
  const parts = { destination, secret, request, existing };
  const { secrets: planned, refusals } = await planSecret(context, caller, parts);
  const secrets = look ? await lookAtPlanned(context, parts, planned) : planned;
  const isAssociated = association?.removing === false;
  return { accessor, isAssociated, isLookedAt: look, maxValueBytes, secrets, refusals };
}

interface PlanParts {
  destination: DestinationRow;
  secret: PreviewedSecret;
  request: PlanRequest;
  existing: Entry[];
}

async function planSecret(
  { db, prefix }: Context,
  caller: Caller,
  { destination, secret, request, existing }: PlanParts,
): Promise<Pick<AssociationPlan, 'secrets' | 'refusals'>> {
  const description = findDescription(destination.type);
  const named = {
    mount: secret.mount_path,
    accessor: secret.accessor,
    secretName: request.secretName,
    namespace: caller.namespace,
    keys: secret.keys.slice(0, maxKeys),
  };
  const shaped = { ...destination, shape: namingSchemeOf(destination) };
  const { entries, refused } = possibleEntries(description, shaped, named, { prefix });
  const wanted = keepFormerNames(existing, entries);
  const { create } = planEntries(existing, wanted);
  const { put, removed } = changesOf(existing, wanted, await takenNames(db, destination.id, create));
  const sizes = sizesOf(secret);
  const withSize = (planned: PlannedSecret): PlannedSecret => {
    const bytes = sizes.get(pushedKey(destination.settings, planned.subKey)) ?? 0;
    return { ...planned, bytes, valueRefusal: whyValueRefused(description, bytes)?.sentence };
  };
  const refusals = [
    whyKeysRefused(destination, secret, request),
    whyTooManyEntries(existing.length, create.length),
  ];
  return {
    secrets: [...[...put, ...refused.map(unnamed)].map(withSize), ...removed],
    refusals: refusals.filter((refusal) => refusal !== undefined),
  };
}

function whyKeysRefused(
  { settings }: DestinationRow,
  { keys }: PreviewedSecret,
  { mount, secretName }: PlanRequest,
): string | undefined {
  const why = settings.granularity === 'secret-key' ? whyTooManyKeys(keys) : whyNoValue(keys, settings);
  return why && `secret_name: ${secretName} in mount ${mount} has ${why}`;
}

const unnamed = ({ key, reason }: UnnamedKey): PlannedSecret => ({
  subKey: key,
  externalName: '',
  change: 'new',
  refusals: [reason],
});

/** Returns the planned changes of the wanted entries, and of those that are no longer wanted. */
function changesOf(
  existing: readonly Entry[],
  wanted: readonly NewEntry[],
  taken: ReadonlyMap<string, string>,
): { put: PlannedSecret[]; removed: PlannedSecret[] } {
  const { create, drop } = planEntries(existing, wanted);
  const created = new Set(create);
  const dropped = new Set(drop.map(({ id }) => id));
  const outdated = existing.filter(({ id, desired }) => dropped.has(id) && desired === 'present');
  const put = wanted.map((entry): PlannedSecret => {
    const { subKey, externalName, collisionKey } = entry;
    const same = { subKey, externalName, refusals: [taken.get(collisionKey) ?? []].flat() };
    const old = outdated.find((other) => other.subKey === subKey);
    if (!created.has(entry)) return { ...same, change: 'kept' };
    return old === undefined
      ? { ...same, change: 'new' }
      : { ...same, change: 'renamed', replaces: old.externalName };
  });
  const renamed = new Set(put.map(({ replaces }) => replaces));
  const removed = outdated
    .filter(({ externalName }) => !renamed.has(externalName))
    .map(
      ({ subKey, externalName }): PlannedSecret => ({
        subKey,
        externalName,
        change: 'removed',
        refusals: [],
      }),
    );
  return { put, removed };
}

/** The size of what would be pushed, by key; the empty one is the whole secret. */
const sizesOf = ({ keys, key_bytes: sizes, value_bytes: whole }: PreviewedSecret): Map<string, number> =>
  new Map([...keys.map((key, index) => [key, sizes[index] ?? 0] as const), ['', whole]]);
