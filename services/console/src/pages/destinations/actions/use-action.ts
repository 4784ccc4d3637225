import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Api } from '../../../api/client.ts';
import { useApi } from '../../../session/session.ts';

/** A change of a destination. Everything that is shown of synchronization is read again afterwards. */
export function useAction<Result>(act: (api: Api) => Promise<Result>, onDone?: () => void) {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => act(api),
    onSuccess: async () => {
      onDone?.();
      await queries.invalidateQueries({ queryKey: ['sync'] });
    },
  });
}
