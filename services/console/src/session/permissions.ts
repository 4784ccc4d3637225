import { useQuery } from '@tanstack/react-query';
import { type CapabilitiesReader, capabilitiesReader, knownForMs } from '../api/capabilities.ts';
import type { Api } from '../api/client.ts';
import { dataOf } from '../api/client.ts';
import type { Capability } from '../api/problem.ts';
import { useApi } from './session.ts';

export interface Permissions {
  /** Whether the policies grant the capability on one of the paths that were asked for. False until it is known. */
  may(capability: Capability, path: string): boolean;
  /** Whether the service has responded. */
  known: boolean;
  /** Why it does not say what the token may do. */
  error: unknown;
}

const readers = new WeakMap<Api, CapabilitiesReader>();

/** The answers that a session shares. */
function readerOf(api: Api): CapabilitiesReader {
  const known = readers.get(api);
  if (known !== undefined) return known;
  const reader = capabilitiesReader(async (paths) =>
    dataOf(await api.POST('/v1/sys/capabilities-self', { body: { paths } })),
  );
  readers.set(api, reader);
  return reader;
}

/** Has the service asked again what the token may do, because it has refused what was offered. */
export const forgetPermissions = (api: Api): void => readerOf(api).forget();

/** Asks what the token may do on paths below `/v1/`. Offer nothing that it may not do. */
export function usePermissions(paths: readonly string[]): Permissions {
  const api = useApi();
  const { data, error, isPending } = useQuery({
    queryKey: ['capabilities', ...paths],
    queryFn: () => readerOf(api).read(paths),
    enabled: paths.length > 0,
    staleTime: knownForMs,
  });
  return {
    known: !isPending,
    error,
    may: (capability, path) => {
      const granted = data?.[path] ?? [];
      return granted.includes('root') || granted.includes(capability);
    },
  };
}
