import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { Api } from '../../../api/client.ts';
import { useApi } from '../../../session/session.ts';
import { forgetUnsavedInput } from '../../../session/unsaved-input.ts';

/**
 * Saves settings of a destination, then reads again what the queries with the key show, and opens the page whose address
 * `save` returns.
 */
export function useSave(
  key: readonly string[],
  save: (api: Api, settings: Record<string, unknown>) => Promise<string>,
) {
  const api = useApi();
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return useMutation({
    gcTime: 0, // The settings may contain credentials.
    mutationFn: (settings: Record<string, unknown>) => save(api, settings),
    onSuccess: async (address) => {
      await queries.invalidateQueries({ queryKey: key });
      forgetUnsavedInput();
      navigate(address);
    },
  });
}
