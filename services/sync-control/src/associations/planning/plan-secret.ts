import {
  type DestinationDescription,
  findDescription,
  pushedKey,
  whyValueRefused,
} from '@secrets/destinations';
import type { StoreState } from '@secrets/domain';
import type { Entry, NewEntry } from '@secrets/sync-entries';
import type { UnnamedKey } from '../../queries/associations/associations.ts';
import type { DestinationRow } from '../../queries/destinations/destinations.ts';
import { whyTooManyEntries } from './apply-plan.ts';
import { keepFormerNames } from './keep-former-names.ts';
import { planEntries } from './plan-entries.ts';
import {
  maxKeys,
  type NamedSecret,
  namingSchemeOf,
  possibleEntries,
  whyNoValue,
  whyTooManyKeys,
} from './wanted-entries.ts';

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

/** The sizes of what would be pushed of a secret: of the whole, and of each of its keys, in their order. */
interface Sizes {
  keys: readonly string[];
  key_bytes: readonly number[];
  value_bytes: number;
}

/** A secret to be planned, with the entries that its association has. */
export interface SecretToPlan {
  destination: DestinationRow;
  /** With all of its keys. */
  secret: NamedSecret & Sizes;
  existing: readonly Entry[];
}

/** The entries that a secret needs, by the names of its destination. */
export interface SecretNames {
  wanted: NewEntry[];
  /** Those that do not exist yet: their names must be free. */
  create: NewEntry[];
  /** Keys that cannot be named. */
  refused: UnnamedKey[];
}

/** Returns the entries that an association of the secret needs. */
export function plannedNames({ destination, secret, existing }: SecretToPlan, prefix: string): SecretNames {
  const shaped = { ...destination, shape: namingSchemeOf(destination) };
  const named = { ...secret, keys: secret.keys.slice(0, maxKeys) };
  const { entries, refused } = possibleEntries(findDescription(destination.type), shaped, named, { prefix });
  const wanted = keepFormerNames(existing, entries);
  return { wanted, create: planEntries(existing, wanted).create, refused };
}

/**
 * Returns the effects of a set, and the reasons for which the secret as a whole would make it fail. `taken` has a sentence for
 * each name that is not free, by collision key.
 */
export function planSecret(
  { destination, secret, existing }: SecretToPlan,
  { wanted, create, refused }: SecretNames,
  taken: ReadonlyMap<string, string>,
): { secrets: PlannedSecret[]; refusals: string[] } {
  const { put, removed } = changesOf(existing, wanted, taken);
  const withSize = sized(findDescription(destination.type), destination, secret);
  const refusals = [whyKeysRefused(destination, secret), whyTooManyEntries(existing.length, create.length)];
  return {
    secrets: [...[...put, ...refused.map(unnamed)].map(withSize), ...removed],
    refusals: refusals.filter((refusal) => refusal !== undefined),
  };
}

/** Returns a function that adds the size of its value to a planned external secret, and why the destination refuses it. */
export function sized(
  description: DestinationDescription,
  { settings }: Pick<DestinationRow, 'settings'>,
  secret: Sizes,
): (planned: PlannedSecret) => PlannedSecret {
  const sizes = sizesOf(secret);
  return (planned) => {
    const bytes = sizes.get(pushedKey(settings, planned.subKey)) ?? 0;
    return { ...planned, bytes, valueRefusal: whyValueRefused(description, bytes)?.sentence };
  };
}

/** Returns why the keys of a secret cannot be synced, as a sentence; undefined if they can. */
function whyKeysRefused(
  { settings }: Pick<DestinationRow, 'settings'>,
  { keys, mount, secretName }: NamedSecret,
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
const sizesOf = ({ keys, key_bytes: sizes, value_bytes: whole }: Sizes): Map<string, number> =>
  new Map([...keys.map((key, index) => [key, sizes[index] ?? 0] as const), ['', whole]]);
