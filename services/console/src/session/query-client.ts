import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import type { Api } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import { forgetPermissions } from './permissions.ts';
import { isTokenValid } from './token-validity.ts';

const attempts = 3;
const isTemporary = (error: unknown): boolean =>
  !(error instanceof ApiProblem) || error.status === 503 || error.status === 429;

/**
 * Returns the cache of a session. After a refusal, it asks whether the token itself is still valid, and if not, calls
 * `onInvalidToken`.
 */
export function createQueryClient(api: Api, onInvalidToken: () => void): QueryClient {
  const onError = (error: unknown) => {
    if (!(error instanceof ApiProblem) || error.status !== 403) return;
    void isTokenValid(api).then((valid) => valid || onInvalidToken());
  };
  // What the console has offered is no longer permitted. Not after refused reads, which are repeated at intervals.
  const onRefusedAction = (error: unknown) => {
    onError(error);
    if (!(error instanceof ApiProblem) || error.status !== 403) return;
    forgetPermissions(api);
    void client.invalidateQueries({ queryKey: ['capabilities'] });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError: onRefusedAction }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        retry: (failures, error) => failures + 1 < attempts && isTemporary(error),
      },
    },
  });
  return client;
}
