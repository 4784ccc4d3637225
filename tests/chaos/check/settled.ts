import { pendingRules, type Ruled, wrongHolders } from './rules/holders.ts';

/** An association as the service lists it. */
export interface ListedAssociation {
  /** `<type>/<name>` */
  destination: string;
  store: string;
  key: string;
  externalName: string;
  status: string;
}

/** A snapshot of the service, its database, its queues and the stores. */
export interface Observed {
  associations: readonly ListedAssociation[];
  /** Work on whole destinations that is in progress, such as `cloudA-sm/main: purge`. */
  work: readonly string[];
  /** The newest value of each secret. */
  values: ReadonlyMap<string, string>;
  /** Names, in lower case, and values in each store. */
  held: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Rows in the database of what is not done. */
  unfinished: Readonly<Record<string, number>>;
  /** Messages that wait, by queue. */
  queued: Readonly<Record<string, number>>;
  /** Null without rules. */
  ruled: Ruled | null;
}

/** Returns why the system is not settled: what is pending, and where a store differs from what is wanted. */
export const reasonsUnsettled = (observed: Observed): string[] => [
  ...pending(observed),
  ...differences(observed),
  ...(observed.ruled === null ? [] : wrongHolders(observed.ruled)),
];

/** Whether nothing is pending: where a store differs, it stays so. */
export const isAtRest = (observed: Observed): boolean => pending(observed).length === 0;

function pending({ associations, work, unfinished, queued, ruled }: Observed): string[] {
  const counts = (what: string, found: Readonly<Record<string, number>>) =>
    Object.entries(found).flatMap(([name, count]) => (count > 0 ? [`${count} ${what} in ${name}`] : []));
  return [
    ...work,
    ...(ruled === null ? [] : pendingRules(ruled)),
    ...associations.flatMap(({ destination, key, status }) =>
      status === 'SYNCED' ? [] : [`${key} in ${destination} is ${status}`],
    ),
    ...counts('rows', unfinished),
    ...counts('messages', queued),
  ];
}

function differences({ associations, values, held }: Observed): string[] {
  return [...held].flatMap(([store, secrets]) => {
    const wanted = new Map(
      associations
        .filter((one) => one.store === store)
        .map(({ externalName, key }) => [externalName.toLowerCase(), values.get(key)]),
    );
    const names = new Set([...wanted.keys(), ...secrets.keys()]);
    return [...names].flatMap((name) => {
      if (!wanted.has(name)) return [`${store} has ${name}, which is not wanted`];
      if (!secrets.has(name)) return [`${store} lacks ${name}`];
      return secrets.get(name) === wanted.get(name)
        ? []
        : [`${store} has ${secrets.get(name)} as ${name}, wanted is ${wanted.get(name)}`];
    });
  });
}
