import { Fault } from '@secrets/domain';
import type { EntryRequest, InspectRequest, Look, Untouched } from '@secrets/sync-worker';
import type { Variable } from '../api/schema.ts';
import { deviationOf } from './deviation.ts';
import { withReadRecords } from './known-records.ts';
import { dateOf } from './list-variables.ts';
import { belonging, ownRecords } from './ownership.ts';
import { parseRemembered, type Remembered } from './remembered.ts';
import { environmentsOf, type Store, wantedSettings } from './store.ts';

/**
 * Lists the project's variables, and reads the values of records of this name that the last put did not leave as they are. A
 * record that is remembered and not listed is read, because lists lag behind. One that has another name is missing, and one that
 * lacks an environment is changed, whatever its value: deployments do not get it.
 */
export async function inspectVariable(store: Store, request: InspectRequest): Promise<Look> {
  await store.project.require(store.signal);
  const { externalName: name } = request;
  const known = parseRemembered(request);
  const { variables: listed, hidden } = await store.api.list(store.signal);
  const variables = await withReadRecords(store, request, listed);
  const own = ownRecords(store.owner, variables, name, known);
  const named = own.filter(({ key }) => key === name);
  const found = named.length > 0 ? named : inTheWay(store, variables, name);
  const [first] = found;
  if (first === undefined) {
    if (hidden > 0) throw new Fault('forbidden', 'the token may not see the variables for production');
    return { exists: false };
  }
  const isUntouched = known !== undefined && isAsLeft(own, known);
  const isMisplaced = named.length > 0 && known !== undefined && !isPlaced(own, known);
  const compared = isUntouched ? 'unread' : await compare(store, request, found);
  const value = compared === 'same' && isMisplaced ? 'different' : compared;
  return {
    exists: true,
    belongs: named.length > 0 ? 'own' : belonging(store.owner, first),
    mark: found.map(({ id, updatedAt }) => `${id} ${updatedAt ?? ''}`).join(),
    isUntouched,
    value,
    changedAt: dateOf(Math.max, found, 'updatedAt'),
    ...(value === 'same' && known !== undefined && named.length > 0 && { remote: asFound(known, own) }),
  };
}

/** The records of a name that a put would have to take over: those for other environments or branches stay beside its own. */
function inTheWay(store: Store, variables: readonly Variable[], name: string): Variable[] {
  const environments = environmentsOf(store);
  const { gitBranch } = wantedSettings(store);
  return variables.filter(
    (variable) =>
      variable.key === name &&
      variable.gitBranch === gitBranch &&
      variable.target.some((environment) => environments.includes(environment)),
  );
}

/** Lists the project's variables once. Records that somebody has renamed have another name, so they count as changed. */
export async function findUntouched(
  { api, project, owner, signal }: Store,
  requests: readonly EntryRequest[],
): Promise<Untouched> {
  await project.require(signal);
  const { variables, pages } = await api.list(signal);
  const named = Map.groupBy(variables, ({ key }) => key);
  const isUntouched = (request: EntryRequest) => {
    const known = parseRemembered(request);
    if (known === undefined) return false;
    const { externalName: name } = request;
    return isAsLeft(ownRecords(owner, named.get(name) ?? [], name, known), known);
  };
  return { entryIds: requests.filter(isUntouched).map(({ entryId }) => entryId), pages };
}

/** Whether these are the records of the last put, unchanged since. */
const isAsLeft = (own: readonly Variable[], known: Remembered): boolean =>
  isPlaced(own, known) &&
  own.every(({ id, updatedAt }) => known.records.find((record) => record.id === id)?.updatedAt === updatedAt);

/** Whether the records have the name, the branch, the type and the environments that the last put gave them. */
const isPlaced = (own: readonly Variable[], { name, records, ...settings }: Remembered): boolean =>
  own.length === records.length &&
  records.every(({ id, target }) => {
    const variable = own.find((one) => one.id === id);
    return variable !== undefined && deviationOf(variable, { name, target, ...settings }) === undefined;
  });

const asFound = (known: Remembered, own: readonly Variable[]): Remembered => ({
  ...known,
  records: known.records.map((record) => ({
    ...record,
    updatedAt: own.find(({ id }) => id === record.id)?.updatedAt ?? null,
  })),
});

/** Each record has a value. */
async function compare(
  { api, signal }: Store,
  { isSameValue }: InspectRequest,
  records: readonly Variable[],
): Promise<'same' | 'different' | 'unread'> {
  for (const { id } of records) {
    const value = id === '' ? undefined : (await api.valueOf(id, signal)).value;
    if (value === undefined) return 'unread';
    if (!isSameValue(value)) return 'different';
  }
  return 'same';
}
