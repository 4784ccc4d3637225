import { Fault } from '@secrets/domain';
import type { ListedSecret, ListPage } from '@secrets/sync-worker';
import type { Variable } from '../api/schema.ts';
import { belonging } from './ownership.ts';
import type { Store } from './store.ts';

/**
 * Lists the variables of the project at once: the records of one key may be on different pages. A key is the destination's if one
 * of its records is.
 */
export async function listVariables({ api, project, owner, signal }: Store): Promise<ListPage> {
  await project.require(signal);
  const { variables, hidden } = await api.list(signal);
  if (hidden > 0) throw new Fault('forbidden', 'the token may not see the variables for production');
  const records = Map.groupBy(variables, ({ key }) => key);
  const secrets = [...records].map(([name, found]): ListedSecret => {
    const belongings = found.map((variable) => belonging(owner, variable));
    return {
      name,
      belongs: (['own', 'other', 'provider'] as const).find((one) => belongings.includes(one)) ?? 'none',
      isReadable: found.every(({ type }) => type !== 'sensitive'),
      createdAt: dateOf(Math.min, found, 'createdAt'),
      changedAt: dateOf(Math.max, found, 'updatedAt'),
    };
  });
  return { secrets, next: null };
}

/** Null if the provider does not state the time of each record. */
export function dateOf(
  choose: (...times: number[]) => number,
  variables: readonly Variable[],
  field: 'createdAt' | 'updatedAt',
): Date | null {
  const times = variables.map((variable) => variable[field]);
  return times.every((time) => time !== null) ? new Date(choose(...times)) : null;
}
