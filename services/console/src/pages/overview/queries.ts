import { useQuery } from '@tanstack/react-query';
import type { Api } from '../../api/client.ts';
import { dataOf } from '../../api/client.ts';
import { textOf } from '../../api/optional.ts';
import { useRefreshMs } from '../../live/live-updates.tsx';
import { useApi } from '../../session/session.ts';

export const statusPath = 'sys/sync/status';
export const lanesPath = 'sys/sync/lanes';
export const configPath = 'sys/sync/config';

const pageSize = 50;

const readStatus = async (api: Api, after = '') =>
  dataOf(await api.GET('/v1/sys/sync/status', { params: { query: { after, limit: pageSize } } }));

const readLanes = async (api: Api, after = '') =>
  dataOf(await api.GET('/v1/sys/sync/lanes', { params: { query: { after, limit: 2 * pageSize } } }));

export type SyncStatus = Awaited<ReturnType<typeof readStatus>>;
export type DestinationStatus = SyncStatus['destinations'][string];
export type Lane = Awaited<ReturnType<typeof readLanes>>['lanes'][number];

/** A page of the destinations with their numbers, and the queue of the installation. */
export function useStatus(after: string | undefined, enabled: boolean) {
  const api = useApi();
  return useQuery({
    queryKey: ['sync', 'status', after],
    queryFn: () => readStatus(api, after),
    refetchInterval: useRefreshMs(),
    placeholderData: (previous) => previous,
    enabled,
  });
}

/** The lanes that are not open; at most the first hundred lanes are looked at. */
export function usePausedLanes(enabled: boolean) {
  const api = useApi();
  return useQuery({
    queryKey: ['sync', 'lanes'],
    queryFn: () => readLanes(api),
    select: ({ lanes }) => lanes.filter(({ state }) => state !== 'open'),
    refetchInterval: useRefreshMs(),
    enabled,
  });
}

/** Where the next page of the status begins. */
export const nextOf = (status: SyncStatus | undefined): string | undefined =>
  textOf((status as { next?: unknown } | undefined)?.next);
