import { Fault } from '@secrets/domain';
import { hasCode, isEqualValue, type PutRequest } from '@secrets/sync-worker';
import type { VariableChange } from '../api/environment-api.ts';
import { absentCodes } from '../api/refusals.ts';
import type { Variable } from '../api/schema.ts';
import { requireRoom, withWrittenSizes } from './deployment-size.ts';
import { isReadable, requireWanted } from './deviation.ts';
import { withKnownRecords } from './known-records.ts';
import { commentOf, isMarked, ownRecords, requireUsable } from './ownership.ts';
import { placeTargets } from './place-targets.ts';
import { parseRemembered, type Remembered, type RememberedRecord } from './remembered.ts';
import { environmentsOf, type Store, type WantedSettings, wantedSettings } from './store.ts';

export const valueBytes = ({ value }: PutRequest): number => Buffer.byteLength(value.reveal());

/** Existing records of a variable, by what has to be done with them. */
interface Findings {
  known: Remembered | undefined;
  /** Records of the destination for a branch, beside those that it has stored. */
  splitOff: Variable[];
  /** Records of the destination, and foreign ones that are taken over as a whole. */
  holders: Variable[];
  /** Those that cannot become what is wanted: new records take their place. */
  replaced: Variable[];
  /** Foreign records that keep the environments that are not the destination's. */
  detached: Variable[];
}

/**
 * Looks at the project's variables and makes the fewest changes: environments of foreign records are given up first,
 * then those of own ones, then records are changed and created, because the provider accepts no two records of a name
 * for one environment.
 * @throws {Fault} `conflict` before anything is written
 */
export async function reconcileVariable(store: Store, request: PutRequest): Promise<Remembered> {
  const { api } = store;
  const environments = environmentsOf(store);
  const { externalName: name } = request;
  const { variables: listed, hidden } = await api.list(store.signal);
  requireVisible(hidden, environments);
  const variables = await withKnownRecords(store, request, listed);
  const findings = sortFound(store, request, variables);
  const wanted = wantedSettings(store);
  requireRoom(await withWrittenSizes(store, variables), {
    name,
    bytes: valueBytes(request),
    environments,
    gitBranch: wanted.gitBranch,
  });
  const equal = await equalRecords(store, request, findings);
  if (findings.known === undefined) await request.recordStart({ inParts: true });
  // A list lags behind: a name that it does not show may be in use. The next attempt finds out whose the record is.
  const records = await apply(store, request, { ...findings, equal });
  return { name, bytes: valueBytes(request), ...wanted, records };
}

/** A member of a team may not see the variables for production. Absent from the list is then not absent. */
function requireVisible(hidden: number, environments: readonly string[]): void {
  if (hidden > 0 && environments.includes('production'))
    throw new Fault('forbidden', 'the token may not see the variables for production');
}

function sortFound(store: Store, request: PutRequest, variables: readonly Variable[]): Findings {
  const { owner } = store;
  const environments = environmentsOf(store);
  const { externalName: name } = request;
  const wanted = wantedSettings(store);
  const known = parseRemembered(request);
  const all = ownRecords(owner, variables, name, known);
  // A record for a branch applies in addition to the one for all.
  const isElsewhere = ({ gitBranch }: Variable) => gitBranch !== wanted.gitBranch;
  const isSplitOff = (variable: Variable) => isElsewhere(variable) && recordOf(known, variable) === undefined;
  const own = all.filter((variable) => !isSplitOff(variable));
  const inTheWay = variables.filter(
    (variable) =>
      variable.key === name &&
      !isElsewhere(variable) &&
      !own.includes(variable) &&
      variable.target.some((environment) => environments.includes(environment)),
  );
  for (const variable of inTheWay) requireUsable(owner, variable, request.overwrite);
  const isTakenOver = ({ target }: Variable) =>
    target.every((environment) => environments.includes(environment));
  const held = [...own, ...inTheWay.filter(isTakenOver)];
  const isReplaced = (variable: Variable) => mustBeReplaced(variable, known, wanted);
  return {
    known,
    splitOff: all.filter(isSplitOff),
    holders: held.filter((variable) => !isReplaced(variable)),
    replaced: held.filter(isReplaced),
    detached: inTheWay.filter((variable) => !isTakenOver(variable)),
  };
}

/** Returns the IDs of the records to take over that have the value already. */
async function equalRecords(
  store: Store,
  { value }: PutRequest,
  { holders, known }: Findings,
): Promise<ReadonlySet<string>> {
  const equal = new Set<string>();
  for (const variable of holders)
    if (recordOf(known, variable) === undefined && variable.type === 'encrypted')
      if (await hasValue(store, variable, value)) equal.add(variable.id);
  return equal;
}

/**
 * Whether the record has this value, in a state that is not older than what is known of it. With a token that may not read it, it
 * counts as another one.
 */
async function hasValue(
  { api, signal }: Store,
  { id, updatedAt }: Variable,
  value: PutRequest['value'],
): Promise<boolean> {
  try {
    const read = await api.valueOf(id, signal);
    const isCurrent = read.updatedAt !== null && updatedAt !== null && read.updatedAt >= updatedAt;
    return isCurrent && read.value !== undefined && isEqualValue(read.value, value);
  } catch (error) {
    const isForbidden = error instanceof Fault && error.kind === 'forbidden';
    if (isForbidden || hasCode(error, ...absentCodes)) return false;
    throw error;
  }
}

const recordOf = (known: Remembered | undefined, { id }: Variable): RememberedRecord | undefined =>
  known?.records.find((record) => record.id === id);

/**
 * A variable becomes sensitive, or no longer is, only by removing it and adding it again
 * (https://vercel.com/docs/environment-variables/sensitive-environment-variables). One for a branch cannot be for the
 * environments that somebody has added to it.
 */
function mustBeReplaced(
  variable: Variable,
  known: Remembered | undefined,
  { gitBranch, isSensitive }: WantedSettings,
): boolean {
  const record = recordOf(known, variable);
  if (gitBranch !== '' && othersIn(variable, record?.target).length > 0) return true;
  return isSensitive
    ? variable.type !== 'sensitive'
    : variable.type === 'sensitive' && record !== undefined && known?.isSensitive === true;
}

async function apply(
  store: Store,
  request: PutRequest,
  findings: Findings & { equal: ReadonlySet<string> },
): Promise<RememberedRecord[]> {
  const { known, splitOff, holders, replaced, detached, equal } = findings;
  const { api, signal } = store;
  const environments = environmentsOf(store);
  for (const { id } of splitOff) await api.remove(id, signal);
  for (const { id, target } of detached) {
    const kept = target.filter((environment) => !environments.includes(environment));
    await api.edit(id, { target: kept }, signal);
  }
  const { targets, created } = placeTargets(holders, environments, store.placement);
  const placed = holders.map((variable) => ({
    variable,
    target: [...targets.get(variable.id)!],
    record: recordOf(known, variable),
    isEqual: equal.has(variable.id),
  }));
  const unused = placed.filter(({ target }) => target.length === 0).map(({ variable }) => variable);
  for (const variable of [...unused, ...replaced])
    await release(store, variable, recordOf(known, variable)?.target);
  const records: RememberedRecord[] = [];
  for (const one of shrinkingFirst(placed.filter(({ target }) => target.length > 0)))
    records.push(await write(store, request, one));
  if (created.length > 0) records.push(...(await add(store, request, created, replaced[0]?.comment)));
  return requireCovered(records, environments);
}

/** Creates a record for each list of environments. */
async function add(
  store: Store,
  { externalName: name, value }: PutRequest,
  created: readonly string[][],
  comment: string | undefined,
): Promise<RememberedRecord[]> {
  const wanted = wantedSettings(store);
  const content = created.map((target) => ({
    key: name,
    value: value.reveal(),
    type: wanted.isSensitive ? ('sensitive' as const) : ('encrypted' as const),
    target,
    gitBranch: wanted.gitBranch || null,
    comment: commentOf(store.owner, comment),
  }));
  return (await store.api.create(content, store.signal)).map((variable) => {
    const { id, target, updatedAt } = variable;
    requireWanted(variable, { name, target: [], ...wanted });
    return { id, target, updatedAt };
  });
}

/** A record that holds the value, with the environments of the destination that it holds it for. */
interface Placed {
  variable: Variable;
  target: string[];
  record: RememberedRecord | undefined;
  /** Whether it is taken over and has the value already. */
  isEqual: boolean;
}

const shrinkingFirst = (placed: readonly Placed[]): Placed[] => {
  const grows = ({ variable, target }: Placed) =>
    target.some((environment) => !variable.target.includes(environment)) ? 1 : 0;
  return [...placed].sort((one, other) => grows(one) - grows(other));
};

/**
 * Makes no call if the record is as the last put left it and the value is the same. A value that is equal is kept in a record
 * that is taken over; because lists and reads lag behind, a change shows that the record still exists.
 */
async function write(
  store: Store,
  { externalName: name, value, valueChanged }: PutRequest,
  { variable, target, record, isEqual }: Placed,
): Promise<RememberedRecord> {
  const { api, owner, signal } = store;
  const settings = wantedSettings(store);
  const { id, updatedAt } = variable;
  const others = othersIn(variable, record?.target).filter((environment) => !target.includes(environment));
  const wanted = [...target, ...others];
  const isSame = record !== undefined && updatedAt !== null && record.updatedAt === updatedAt;
  const isRetargeted = [...wanted].sort().join() !== [...variable.target].sort().join();
  const needsMark = !isMarked(owner, variable) && (record === undefined || variable.comment === '');
  const change: VariableChange = {
    ...(isEqual || (isSame && !valueChanged) ? {} : { value: value.reveal() }),
    ...(variable.key === name ? {} : { key: name }),
    ...(variable.gitBranch === settings.gitBranch ? {} : { gitBranch: settings.gitBranch || null }),
    ...(isReadable(variable.type) ? { type: 'encrypted' } : {}),
    ...(isRetargeted ? { target: wanted } : {}),
    ...(needsMark ? { comment: commentOf(owner, variable.comment) } : {}),
  };
  if (Object.keys(change).length === 0 && !isEqual) return { id, target, updatedAt };
  let written = await api.edit(id, isEqual ? { key: name, ...change } : change, signal);
  // Somebody may have changed the value after it was compared. The time of this change would hide that from every look.
  if (isEqual && written !== undefined && !(await hasValue(store, written, value)))
    written = await api.edit(id, { value: value.reveal() }, signal);
  if (written === undefined) throw new Fault('not_ready', `${JSON.stringify(name)} was just removed`);
  requireWanted(written, { name, target: wanted, ...settings });
  return { id, target, updatedAt: written.updatedAt };
}

/**
 * Environments that somebody has added to a record of the destination. Of a record that is not known, all are the
 * destination's.
 */
const othersIn = ({ target }: Variable, ours: readonly string[] = target): string[] =>
  target.filter((environment) => !ours.includes(environment));

/**
 * Removes the destination's environments from a record, and the record if none is left. `ours` is undefined if it is
 * not known.
 */
export async function release(
  { api, signal }: Pick<Store, 'api' | 'signal'>,
  variable: Variable,
  ours: readonly string[] | undefined,
): Promise<void> {
  const target = othersIn(variable, ours);
  if (target.length > 0) await api.edit(variable.id, { target }, signal);
  else await api.remove(variable.id, signal);
}

/** A policy may make the provider store fewer environments than requested. The next attempt adds a record for them. */
function requireCovered(records: RememberedRecord[], environments: readonly string[]): RememberedRecord[] {
  const covered = records.flatMap(({ target }) => target);
  const missing = environments.filter((environment) => !covered.includes(environment));
  if (missing.length === 0) return records;
  throw new Fault('not_ready', `the variable is not stored for ${missing.join(', ')} yet`);
}
