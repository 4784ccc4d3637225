import type { Sql } from '@secrets/db';
import type { AccessChanges } from '../changes/access-changes.ts';
import { changeTag } from '../changes/change-tags.ts';

/** A rate limit that an operator defined (docs/conventions/access.md#rate-limits). */
export interface Quota {
  name: string;
  /** Of the namespace that it is about; empty for root. */
  namespace: string;
  /** A path in that namespace, without slashes at its ends; empty for all of it. */
  path: string;
  /** Requests per interval. */
  rate: number;
  intervalSeconds: number;
  blockSeconds: number;
  /** Whether it applies in the namespaces below as well. */
  inheritable: boolean;
  /** `ip`: to each address; `none`: to all requests together. */
  groupBy: 'ip' | 'none';
}

/** The quotas that apply to requests. */
export interface Quotas {
  /** The quota that applies to a request: the one of the longest path, in the closest namespace. */
  on(namespace: string, path: string): Promise<Quota | undefined>;
}

/** All quotas. The path of a namespace is looked up for each, because a join would read all namespaces. */
export async function readQuotas(sql: Sql): Promise<Quota[]> {
  return sql.query<Quota>(
    `select q.name, (select n.path from login.namespaces n where n.id = q.namespace_id) as namespace, q.path, q.rate, q.interval_seconds as "intervalSeconds", q.block_seconds as "blockSeconds",
       q.inheritable, q.group_by as "groupBy"
     from login.rate_limit_quotas q`,
  );
}

/** A change is seen with the next read of changes, or after this time if there is none. */
const maxAgeMs = 5_000;

/** Keeps all quotas in memory: requests never wait for them, except the first. */
export function cachedQuotas(db: Sql, changes: AccessChanges, clock: () => number): Quotas {
  let current: ReadonlyMap<string, Quota[]> | undefined;
  let freshUntil = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  const outdate = () => {
    freshUntil = Number.NEGATIVE_INFINITY;
  };
  changes.subscribe({
    drop: (tags) => {
      if (tags.has(changeTag.quotas)) outdate();
    },
    clear: outdate,
  });
  const refresh = (): Promise<void> => {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const read = async () => {
    freshUntil = clock() + maxAgeMs; // before the read, which a change may follow
    current = byNamespace(await readQuotas(db));
  };
  return {
    on: async (namespace, path) => {
      if (current === undefined) await refresh();
      else if (clock() >= freshUntil) refresh().catch(outdate);
      return current === undefined || current.size === 0 ? undefined : quotaOn(current, namespace, path);
    },
  };
}

/** The quotas of each namespace, the one with the longest path first. */
function byNamespace(quotas: readonly Quota[]): ReadonlyMap<string, Quota[]> {
  const map = new Map<string, Quota[]>();
  for (const quota of quotas) map.set(quota.namespace, [...(map.get(quota.namespace) ?? []), quota]);
  for (const list of map.values()) list.sort((a, b) => b.path.length - a.path.length);
  return map;
}

function quotaOn(quotas: ReadonlyMap<string, Quota[]>, namespace: string, path: string): Quota | undefined {
  const own = quotas.get(namespace)?.find((quota) => isWithin(path, quota.path));
  if (own !== undefined || namespace === '') return own;
  for (let above = parentOf(namespace); ; above = parentOf(above)) {
    const inherited = quotas.get(above)?.find((quota) => quota.path === '' && quota.inheritable);
    if (inherited !== undefined || above === '') return inherited;
  }
}

const isWithin = (path: string, folder: string): boolean =>
  folder === '' || path === folder || path.startsWith(`${folder}/`);

const parentOf = (namespace: string): string => namespace.slice(0, Math.max(0, namespace.lastIndexOf('/')));
