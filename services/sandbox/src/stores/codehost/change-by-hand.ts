import type { HandChange } from '../simulated-store.ts';
import { isoSeconds } from './operations/operation.ts';
import type { ActionSecret } from './store/action-secret.ts';
import type { CodehostStore } from './store/codehost-store.ts';

/** Changes every secret with this name. One that is created again is seen by the same repositories. */
export function changeByHand(
  store: CodehostStore,
  { change, regionOf }: { change: HandChange; regionOf(secret: ActionSecret): string },
  nowMs: number,
): number {
  const changed = store
    .all()
    .filter((secret) => secret.name === change.name.toUpperCase())
    .filter((secret) => change.region === undefined || regionOf(secret) === change.region);
  for (const secret of changed) apply(store, secret, change, isoSeconds(nowMs));
  return changed.length;
}

function apply(store: CodehostStore, secret: ActionSecret, change: HandChange, at: string): void {
  const { scope, name, writes } = secret;
  if (change.action !== 'edit') store.change({ removed: { scope, name } });
  if (change.action === 'delete') return;
  const written = { ...secret, value: change.value, updatedAt: at, writes: writes + 1 };
  const another = change.action === 'edit' ? {} : { createdAt: at, writes: 1 };
  store.change({ secret: { ...written, ...another } });
}
