import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useLiveState } from '../live/live-updates.tsx';

/** The script that this page was started with. Its name contains a hash of the whole application. */
const entry = document.querySelector<HTMLScriptElement>('script[type="module"][src]')?.getAttribute('src');

/** Resolves with whether the service serves another version of the console than this one. */
async function isReplaced(): Promise<boolean> {
  const response = await fetch('/ui/', { credentials: 'omit', cache: 'no-cache' });
  if (!response.ok || typeof entry !== 'string') return false;
  return !(await response.text()).includes(entry);
}

const checkMs = 300_000;

/**
 * Whether another version of the console is served. It is looked at every five minutes, and when the stream of events was
 * interrupted, as an upgrade does.
 */
export function useIsReplaced(): boolean {
  const live = useLiveState();
  const { data = false, refetch } = useQuery({
    queryKey: ['console', 'is-replaced'],
    queryFn: isReplaced,
    refetchInterval: checkMs,
    staleTime: checkMs,
  });
  useEffect(() => {
    if (live === 'live') void refetch();
  }, [live, refetch]);
  return data;
}
