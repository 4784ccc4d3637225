import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../session/session.ts';
import { type Description, operationsOf } from './operations.ts';

/** The version and the operations of the service that answers, from its own description. */
export function useDescription() {
  const api = useApi();
  return useQuery({
    queryKey: ['api', 'description'],
    queryFn: async () => {
      const { data } = await api.GET('/v1/sys/internal/specs/openapi');
      const description = data as unknown as Description;
      return { version: description.info.version, operations: operationsOf(description) };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export const operationHref = ({ method, path }: { method: string; path: string }): string =>
  `/api/operation?${new URLSearchParams({ method, path })}`;
