const reloads = new Set<() => unknown>();
const reloadAll = () => {
  for (const reload of reloads) reload();
};

/**
 * Calls `reload` on each SIGHUP; returns a function that ends this. All services of a process share one listener, which stays:
 * without one, the signal would end a process that is stopping.
 */
export function onReloadSignal(reload: () => unknown): () => void {
  if (!process.listeners('SIGHUP').includes(reloadAll)) process.on('SIGHUP', reloadAll);
  reloads.add(reload);
  return () => void reloads.delete(reload);
}
