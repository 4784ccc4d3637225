import type { Caller } from '@secrets/caller';
import { statusOfAll } from '@secrets/domain';
import { readSyncConfig } from '@secrets/sync-entries';
import { associateMany } from '../../associations/batches/associate-many.ts';
import {
  forEachMount,
  forEachSecret,
  type SecretResult,
  warningOf,
} from '../../associations/batches/each-secret.ts';
import { disassociate } from '../../associations/disassociate.ts';
import { planAssociation } from '../../associations/planning/plan-association.ts';
import { presentPlan } from '../../associations/planning/present-plan.ts';
import type { KeyedLine } from '../../associations/present-association.ts';
import type { Context } from '../../context.ts';
import { requireDestination } from '../../destinations/require-destination.ts';
import type { DestinationParams, SecretRef } from '../fields.ts';

/** A set, a removal or a plan of several secrets. */
interface ListOf<Options> {
  params: DestinationParams;
  caller: Caller;
  secrets: readonly SecretRef[];
  options: Options;
  warn: (sentence: string) => void;
}

/** The lines of an association after a set or a removal, by its ID. */
type LinesOf<Id> = (id: Id) => Promise<KeyedLine[]>;

export async function setEach(
  context: Context,
  { options: { overwrite, waitMs }, ...list }: ListOf<{ overwrite: boolean; waitMs: number }>,
  linesOf: LinesOf<string>,
) {
  const { params, caller } = list;
  const asked = await listOf(context, 'set', { ...list, options: { overwrite } });
  const results = await forEachMount(context, asked, (mount, secretNames) =>
    associateMany(context, caller, { ...params, mount, overwrite }, secretNames),
  );
  return present(context, list, { results, idOf: (id) => id, linesOf, waitMs });
}

/** The rules that still hold an association after a removal; nothing if none does. */
export const presentHolders = (rules: readonly string[]) =>
  rules.length === 0 ? {} : { held_by_rules: rules };

type Removed = Awaited<ReturnType<typeof disassociate>>;

export async function removeEach(
  context: Context,
  { options: { keep, waitMs }, ...list }: ListOf<{ keep: boolean; waitMs: number }>,
  linesOf: LinesOf<NonNullable<Removed>>,
) {
  const results = await forEach(context, 'remove', { ...list, options: { keep } }, (ref) =>
    disassociate(context, list.caller, { ...list.params, ...ref, keep }, 0),
  );
  const idOf = (removed: Removed) => (removed?.heldBy.length === 0 ? removed.association.id : undefined);
  const shown = async (removed: Removed) => (removed === undefined ? [] : linesOf(removed));
  const more = (removed: Removed) => presentHolders(removed?.heldBy ?? []);
  return present(context, list, { results, idOf, linesOf: shown, waitMs, without: 'UNSYNCED', more });
}

export async function planEach(context: Context, list: ListOf<object>) {
  const results = await forEach(context, 'plan', list, (ref) =>
    planAssociation(context, list.caller, { ...list.params, ...ref, look: false }),
  );
  warnOf(results, list.warn);
  return {
    ...storeOf(list.params),
    results: results.map(({ result, done }) => {
      if (done === undefined) return result;
      const { store_type, store_name, ...plan } = presentPlan(
        { ...storeNames(list.params), ...nameOf(result) },
        done,
      );
      return { ...result, ...plan };
    }),
  };
}

const nameOf = ({ mount, secret_name: secretName }: SecretRef) => ({ mount, secretName });
const storeNames = ({ shownType: type, name }: DestinationParams) => ({ type, name });
const storeOf = ({ shownType, name }: DestinationParams) => ({ store_type: shownType, store_name: name });

const forEach = async <Done>(
  context: Context,
  operation: string,
  list: ListOf<object>,
  work: (secret: ReturnType<typeof nameOf>) => Promise<Done>,
) => forEachSecret(context, await listOf(context, operation, list), (secret) => work(nameOf(secret)));

/** The requests of a list. A missing destination is a 404 of the whole. */
async function listOf(
  context: Context,
  operation: string,
  { params, caller, secrets, options }: ListOf<object>,
) {
  await requireDestination(context, caller, params);
  const path = `sys/sync/destinations/${params.shownType}/${params.name}/associations/${operation}`;
  return { caller, path, secrets, more: { ...options } };
}

type Results<Done> = { result: SecretResult; done?: Done }[];

const warnOf = (results: Results<unknown>, warn: (sentence: string) => void): void => {
  const warning = warningOf(results.map(({ result }) => result));
  if (warning !== undefined) warn(warning);
};

/** Waits for the outcomes of all, and shows the status of each. */
async function present<Done>(
  context: Context,
  { params, warn }: Pick<ListOf<object>, 'params' | 'warn'>,
  {
    results,
    idOf,
    linesOf,
    waitMs,
    without = 'SYNCED',
    more = () => ({}),
  }: {
    results: Results<Done>;
    idOf: (done: Done) => string | undefined;
    linesOf: LinesOf<Done>;
    waitMs: number;
    /** The status of an association without lines. */
    without?: 'SYNCED' | 'UNSYNCED';
    /** Further fields of the result of a secret. */
    more?: (done: Done) => object;
  },
) {
  const isStopped = (await readSyncConfig(context.db)).stoppedBecause !== null;
  const ids = results
    .map(({ done }) => (done === undefined ? undefined : idOf(done)))
    .filter((id) => id !== undefined);
  await Promise.all(ids.map((id) => context.queue.outcome(id, isStopped ? 0 : waitMs)));
  warnOf(results, warn);
  const shown: (SecretResult & { sync_status: string | null })[] = [];
  for (const { result, done } of results) {
    if (result.status !== 200) {
      shown.push({ ...result, sync_status: null });
      continue;
    }
    const statuses = (await linesOf(done as Done)).map(({ line }) => line.sync_status);
    shown.push({
      ...result,
      sync_status: statuses.length === 0 ? without : statusOfAll(statuses),
      ...more(done as Done),
    });
  }
  return { ...storeOf(params), results: shown };
}
