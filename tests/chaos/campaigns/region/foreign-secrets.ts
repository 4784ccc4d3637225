import { eventually } from '../../../harness/eventually.ts';
import { hotKeys, isForeign, mount, shapeOf, type World, withForeignName } from '../../load/world.ts';

/** Values by store and name. */
export type Contents = ReadonlyMap<string, string>;

/**
 * Leaves external secrets in each store that belong to no destination, as somebody else creates them. Their names come from a
 * destination that is deleted, and nothing in the store shows that they were ever pushed.
 */
export async function createForeignSecrets(world: World): Promise<void> {
  for (const one of world.still.map(withForeignName)) {
    await world.api('POST', one.path, { ...one.fields, ...shapeOf(one, 0) });
    const associations = `${one.path}/associations`;
    for (const key of hotKeys.slice(0, 2))
      await world.api('POST', `${associations}/set?wait=0`, { mount, secret_name: key });
    const { body } = await eventually(
      () => world.api('GET', associations),
      (answer) => names(answer.body).length === 2 && isSynced(answer.body),
    );
    await world.api('DELETE', `${one.path}?keep=true`);
    await eventually(
      () => world.apiUnlessGone('GET', one.path),
      ({ status }) => status === 404,
    );
    for (const name of names(body)) await world.sandbox.changeByHand(one.type, name, 'recreate', 'theirs');
  }
}

interface Listed {
  data: { associated_secrets: Record<string, { external_name: string; sync_status: string }> };
}

const names = ({ data }: Listed): string[] =>
  Object.values(data.associated_secrets).map(({ external_name }) => external_name);

const isSynced = ({ data }: Listed): boolean =>
  Object.values(data.associated_secrets).every(({ sync_status }) => sync_status === 'SYNCED');

/** Returns what all stores hold. */
export async function contentsOf({ sandbox, still }: World): Promise<Contents> {
  const all = still.map(async ({ type }) =>
    Object.entries(await sandbox.contents(type)).map(([name, value]) => [`${type} ${name}`, value] as const),
  );
  return new Map((await Promise.all(all)).flat());
}

const nameOf = (id: string): string => id.slice(id.indexOf(' ') + 1);

/** Returns only what belongs to no destination. */
export const foreignIn = (contents: Contents): Contents =>
  new Map([...contents].filter(([id]) => isForeign(nameOf(id))));

/** Returns what differs: values that are gone, were changed or have appeared. */
export function differencesOf(before: Contents, after: Contents): string[] {
  const ids = new Set([...before.keys(), ...after.keys()]);
  return [...ids].filter((id) => before.get(id) !== after.get(id));
}
