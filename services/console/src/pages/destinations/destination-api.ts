import { useQuery } from '@tanstack/react-query';
import { type Api, dataOf, ifPresent } from '../../api/client.ts';
import { useLiveState } from '../../live/live-updates.tsx';
import { useApi } from '../../session/session.ts';

/** Type and name of a destination. */
export interface DestinationRef {
  type: string;
  name: string;
}

/** Below `/v1/`; further segments are appended with slashes. */
export const destinationPath = ({ type, name }: DestinationRef, ...more: string[]): string =>
  ['sys/sync/destinations', type, name, ...more].join('/');

/** The address of a page of the console. */
export const destinationAddress = ({ type, name }: DestinationRef, ...more: string[]): string =>
  ['/destinations', encodeURIComponent(type), encodeURIComponent(name), ...more].join('/');

export const destinationKey = ({ type, name }: DestinationRef) =>
  ['sync', 'destinations', 'one', type, name] as const;

const read = async (api: Api, path: DestinationRef) =>
  dataOf(await api.GET('/v1/sys/sync/destinations/{type}/{name}', { params: { path } }));

/** A destination as responses contain it; while there is work on all of it, with its progress. */
export type Destination = Awaited<ReturnType<typeof read>> & Record<string, unknown>;

const progressMs = 2_000;

/** Reads a destination, and reads it again soon while there is work on all of it, whose progress no event announces. */
export function useDestination(ref: DestinationRef) {
  const api = useApi();
  const isLive = useLiveState() === 'live';
  return useQuery({
    queryKey: destinationKey(ref),
    queryFn: async (): Promise<Destination> => read(api, ref),
    refetchInterval: ({ state }) => {
      if (state.status === 'error') return false;
      if (isBusy(state.data)) return progressMs;
      return isLive ? false : 4 * progressMs;
    },
  });
}

const isBusy = (destination: Destination | undefined): boolean =>
  Object.keys(destination ?? {}).some((field) => field.endsWith('_initiated_at'));

/** The settings of a destination by the names of the fields of requests. */
export const settingsOf = ({ connection_details, options }: Destination): Record<string, unknown> => {
  const { granularity_level: granularity, ...others } = options as Record<string, unknown>;
  return { ...(connection_details as Record<string, unknown>), ...others, granularity };
};

/** A page of the names of the destinations of a type. */
export function useDestinationNames(type: string, after: string | undefined, enabled: boolean) {
  const api = useApi();
  return useQuery({
    queryKey: ['sync', 'destinations', 'of-type', type, after],
    queryFn: () => readNames(api, type, after),
    placeholderData: (previous) => previous,
    enabled,
  });
}

const pageSize = 50;

/** One more than a page is read, to know whether there is a next one. */
async function readNames(api: Api, type: string, after = '') {
  const query = { list: 'true' as const, after, limit: pageSize + 1 };
  const answer = await ifPresent(
    api.GET('/v1/sys/sync/destinations/{type}', { params: { path: { type }, query } }),
  );
  const { keys, total_destinations: total } =
    answer === undefined ? { keys: [], total_destinations: 0 } : dataOf(answer);
  const shown = keys.slice(0, pageSize);
  return { names: shown, total, next: keys.length > pageSize ? shown.at(-1) : undefined };
}

/** Creates a destination, or changes the given settings of it. */
export const writeDestination = (
  api: Api,
  verb: 'POST' | 'PATCH',
  { type, name }: DestinationRef,
  settings: Record<string, unknown>,
) => {
  // Each type has a description of its own; its fields are those of the form.
  const path = `/v1/sys/sync/destinations/${type}/{name}` as '/v1/sys/sync/destinations/cloudA-sm/{name}';
  const request = { params: { path: { name } }, body: settings as never };
  return verb === 'POST' ? api.POST(path, request) : api.PATCH(path, request);
};
