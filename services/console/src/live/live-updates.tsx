import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react';
import { useSession } from '../session/session.ts';
import { followEvents, type LiveState } from './follow-events.ts';
import { staleQueries } from './stale-queries.ts';
import type { SyncEvent } from './sync-event.ts';

const LiveContext = createContext<LiveState>('connecting');

/** Whether what is shown follows the service. */
export const useLiveState = (): LiveState => useContext(LiveContext);

const liveRefreshMs = 30_000;
const pollMs = 5_000;

/**
 * Returns the interval in milliseconds at which views that depend on the time are read again: long while events
 * announce changes, short otherwise.
 */
export const useRefreshMs = (): number => (useLiveState() === 'live' ? liveRefreshMs : pollMs);

/**
 * Follows the events of the namespace, and has what they change read again. Not in a tab that is hidden: a browser has
 * six connections to an origin for all of its tabs, and each stream takes one.
 */
export function LiveUpdates({ children }: { children: ReactNode }) {
  const { token, namespace } = useSession();
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>('connecting');
  const isVisible = useIsVisible();
  useEffect(() => {
    if (!isVisible) return;
    const stop = new AbortController();
    const collected = staleCollector(queries, stop.signal);
    void followEvents({ token, namespace }, { onState: setState, onEvent: collected }, stop.signal);
    return () => stop.abort();
  }, [token, namespace, queries, isVisible]);
  return <LiveContext value={state}>{children}</LiveContext>;
}

function onVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener);
  return () => document.removeEventListener('visibilitychange', listener);
}

const useIsVisible = (): boolean =>
  useSyncExternalStore(onVisibility, () => document.visibilityState === 'visible');

const flushMs = 1_000;

/** Returns a function that takes events. What they make stale is read again at most once a second, however many there are. */
function staleCollector(queries: QueryClient, signal: AbortSignal): (event: SyncEvent) => void {
  const stale = new Map<string, readonly string[]>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    const keys = [...stale.values()];
    stale.clear();
    for (const queryKey of keys) void queries.invalidateQueries({ queryKey }, { cancelRefetch: false });
  };
  signal.addEventListener('abort', () => clearTimeout(timer));
  return (event) => {
    for (const key of staleQueries(event)) stale.set(key.join('\n'), key);
    if (stale.size > 0) timer ??= setTimeout(flush, flushMs);
  };
}
