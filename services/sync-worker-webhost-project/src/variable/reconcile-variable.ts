import { Fault } from '@secrets/domain';
import { hasCode, type PutRequest } from '@secrets/sync-worker';
import { conflictCodes } from '../api/call-faults.ts';
import type { VariableChange } from '../api/environment-api.ts';
import type { Variable } from '../api/schema.ts';
import { requireRoom } from './deployment-size.ts';
import { commentOf, isMarked, isOwn, requireUsable } from './ownership.ts';
import { placeTargets } from './place-targets.ts';
import { parseRemembered, type Remembered, type RememberedRecord } from './remembered.ts';
import type { Store } from './store.ts';

export const valueBytes = ({ value }: PutRequest): number => Buffer.byteLength(value.reveal());

/** The records of a variable's name. Those of a branch are not among them: they apply in addition to the one for previews. */
export const recordsOf = (variables: readonly Variable[], name: string): Variable[] =>
  variables.filter(({ key, gitBranch }) => key === name && !gitBranch);

/** What is there, and what follows for each record. */
interface Findings {
  known: Remembered | undefined;
  /** Records of the destination, and foreign ones that are taken over as a whole. */
  holders: Variable[];
  /** Foreign records that keep the environments that are not the destination's. */
  detached: Variable[];
}

/**
 * Looks at the project's variables and makes the fewest changes: environments of foreign records are given up first, then those of own ones, then records
 * are changed and created, because the provider accepts no two records of a name for one environment.
 * @throws {Fault} `conflict` before anything is written
 */
export async function reconcileVariable(
  store: Store,
  request: PutRequest,
  signal: AbortSignal,
): Promise<Remembered> {
  const { api, environments } = store;
  const { externalName: name } = request;
  const { variables, hidden } = await api.list(signal);
  requireVisible(hidden, environments);
  const findings = sortFound(store, request, recordsOf(variables, name));
  requireRoom(variables, { name, bytes: valueBytes(request), environments });
  if (findings.known === undefined) await request.recordStart({ inParts: true });
  try {
    const records = await apply(store, request, findings, signal);
    return { name, bytes: valueBytes(request), records };
  } catch (error) {
    if (!hasCode(error, ...conflictCodes)) throw error;
    // Lists lag behind. The next attempt finds out whose the record is: those of the destination are marked.
    throw new Fault('not_ready', `${JSON.stringify(name)} was just created or is still being removed`);
  }
}

/** A member of a team may not see the variables for production. Absent from the list is then not absent. */
function requireVisible(hidden: number, environments: readonly string[]): void {
  if (hidden > 0 && environments.includes('production'))
    throw new Fault('forbidden', 'the token may not see the variables for production');
}

function sortFound(store: Store, request: PutRequest, found: readonly Variable[]): Findings {
  const { owner, environments } = store;
  const known = parseRemembered(request);
  const own = found.filter((variable) => isOwn(owner, variable, known));
  const inTheWay = found.filter(
    (variable) =>
      !own.includes(variable) && variable.target.some((environment) => environments.includes(environment)),
  );
  for (const variable of inTheWay) requireUsable(owner, variable, request.overwrite);
  const isTakenOver = ({ target, customEnvironmentIds }: Variable) =>
    customEnvironmentIds.length === 0 && target.every((environment) => environments.includes(environment));
  return {
    known,
    holders: [...own, ...inTheWay.filter(isTakenOver)],
    detached: inTheWay.filter((variable) => !isTakenOver(variable)),
  };
}

async function apply(
  store: Store,
  request: PutRequest,
  { known, holders, detached }: Findings,
  signal: AbortSignal,
): Promise<RememberedRecord[]> {
  const { api, environments, owner } = store;
  for (const { id, target } of detached) {
    const kept = target.filter((environment) => !environments.includes(environment));
    await api.edit(id, { target: kept }, signal);
  }
  const { targets, created } = placeTargets(holders, environments, store);
  const placed = holders.map((variable) => ({
    variable,
    target: [...targets.get(variable.id)!],
    record: known?.records.find(({ id }) => id === variable.id),
  }));
  const unused = placed.filter(({ target }) => target.length === 0);
  for (const { variable, record } of unused) await release(store, variable, record?.target, signal);
  const records: RememberedRecord[] = [];
  for (const one of shrinkingFirst(placed.filter(({ target }) => target.length > 0)))
    records.push(await write(store, request, one, signal));
  if (created.length === 0) return records;
  const fresh = created.map((target) => ({
    key: request.externalName,
    value: request.value.reveal(),
    target,
    comment: commentOf(owner),
  }));
  for (const variable of await api.create(fresh, signal)) {
    const { id, target, updatedAt } = variable;
    records.push({ id, target, updatedAt });
  }
  return requireCovered(records, environments);
}

/** A record that holds the value, with the environments of the destination that it holds it for. */
interface Placed {
  variable: Variable;
  target: string[];
  record: RememberedRecord | undefined;
}

const shrinkingFirst = (placed: readonly Placed[]): Placed[] => {
  const grows = ({ variable, target }: Placed) =>
    target.some((environment) => !variable.target.includes(environment)) ? 1 : 0;
  return [...placed].sort((one, other) => grows(one) - grows(other));
};

/** Makes no call if the record is as the last put left it and the value is the same. */
async function write(
  { api, owner }: Store,
  request: PutRequest,
  { variable, target, record }: Placed,
  signal: AbortSignal,
): Promise<RememberedRecord> {
  const { id, updatedAt } = variable;
  const others = othersIn(variable, record?.target).filter((environment) => !target.includes(environment));
  const wanted = [...target, ...others];
  const isSame = record !== undefined && updatedAt !== null && record.updatedAt === updatedAt;
  const isRetargeted = [...wanted].sort().join() !== [...variable.target].sort().join();
  const needsMark = !isMarked(owner, variable) && (record === undefined || variable.comment === '');
  const change: VariableChange = {
    ...(request.valueChanged || !isSame ? { value: request.value.reveal() } : {}),
    ...(isRetargeted ? { target: wanted } : {}),
    ...(needsMark ? { comment: commentOf(owner) } : {}),
  };
  if (Object.keys(change).length === 0) return { id, target, updatedAt };
  const written = await api.edit(id, change, signal);
  if (written === undefined)
    throw new Fault('not_ready', `${JSON.stringify(request.externalName)} was just removed`);
  return { id, target, updatedAt: written.updatedAt };
}

/** Environments that somebody has added to a record of the destination. Of a record that is not known, all are the destination's. */
const othersIn = ({ target }: Variable, ours: readonly string[] = target): string[] =>
  target.filter((environment) => !ours.includes(environment));

/** Removes the destination's environments from a record, and the record if none is left. `ours` is undefined if it is not known. */
export async function release(
  { api }: Pick<Store, 'api'>,
  variable: Variable,
  ours: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<void> {
  const target = othersIn(variable, ours);
  if (target.length > 0 || variable.customEnvironmentIds.length > 0)
    await api.edit(variable.id, { target }, signal);
  else await api.remove(variable.id, signal);
}

/** A policy may make the provider store fewer environments than requested. The next attempt adds a record for them. */
function requireCovered(records: RememberedRecord[], environments: readonly string[]): RememberedRecord[] {
  const covered = records.flatMap(({ target }) => target);
  const missing = environments.filter((environment) => !covered.includes(environment));
  if (missing.length === 0) return records;
  throw new Fault('not_ready', `the variable is not stored for ${missing.join(', ')} yet`);
}
