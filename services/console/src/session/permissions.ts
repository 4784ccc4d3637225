import { useQuery } from '@tanstack/react-query';
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

/**
 * Asks what the token may do on paths below `/v1/`, at most 256 of them. Offer nothing that it may not do.
 * Paths of the same component belong into one call.
 */
export function usePermissions(paths: readonly string[]): Permissions {
  const api = useApi();
  const { data, error, isPending } = useQuery({
    queryKey: ['capabilities', ...paths],
    queryFn: async () => dataOf(await api.POST('/v1/sys/capabilities-self', { body: { paths: [...paths] } })),
    enabled: paths.length > 0,
    staleTime: 60_000,
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
