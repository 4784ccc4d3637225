import { type QueryCache, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import { dataOf } from '../../api/client.ts';
import { textOf } from '../../api/optional.ts';
import { ApiProblem } from '../../api/problem.ts';
import { useRefreshMs } from '../../live/live-updates.tsx';
import { usePermissions } from '../../session/permissions.ts';
import { useApi } from '../../session/session.ts';

const statusPath = 'sys/sync/status';
const paths = [statusPath];

/** Whether syncing is disabled or held in the whole installation. Both are false for a token that may not see the sync status. */
export function useInstallation(): { isDisabled: boolean; isHeld: boolean } {
  const api = useApi();
  const { may } = usePermissions(paths);
  const { data } = useQuery({
    queryKey: ['sync', 'installation'],
    queryFn: async () => {
      const status = dataOf(await api.GET('/v1/sys/sync/status', { params: { query: { limit: 1 } } }));
      return { isDisabled: status.disabled, isHeld: textOf(status.held_because) !== undefined };
    },
    refetchInterval: useRefreshMs(),
    enabled: may('read', statusPath),
  });
  return data ?? { isDisabled: false, isHeld: false };
}

/** The sentence with which the gateway refuses a request that it cannot audit (services/gateway/src/audit/audit-trail.ts). */
const unaudited = 'the audit log cannot be written';

const isUnaudited = (error: unknown): boolean =>
  error instanceof ApiProblem && error.sentences.includes(unaudited);

const hasUnaudited = (cache: QueryCache): boolean =>
  cache.getAll().some(({ state }) => isUnaudited(state.error) || isUnaudited(state.fetchFailureReason));

/** Whether something that is shown was refused because it could not be audited, and has not succeeded since. */
export function useIsAuditFailing(): boolean {
  const cache = useQueryClient().getQueryCache();
  const subscribe = useCallback((listener: () => void) => cache.subscribe(listener), [cache]);
  return useSyncExternalStore(subscribe, () => hasUnaudited(cache));
}
