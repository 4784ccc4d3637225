import { randomBytes } from 'node:crypto';
import type { HandChange } from '../simulated-store.ts';
import type { Variable } from './variable.ts';
import type { VariableStore } from './variable-store.ts';

/** Changes every variable with this key. One that is created again is for the same environments, without the comment. */
export function changeByHand(store: VariableStore, change: HandChange): number {
  const changed = store
    .all()
    .filter(({ key }) => key === change.name)
    .filter(({ projectId }) => change.region === undefined || projectId === change.region);
  for (const variable of changed) apply(store, variable, change);
  return changed.length;
}

function apply(store: VariableStore, variable: Variable, change: HandChange): void {
  if (change.action !== 'edit') store.remove(variable);
  if (change.action === 'delete') return;
  const at = store.nextTime();
  const written = { ...variable, value: change.value, updatedAt: at, writes: variable.writes + 1 };
  const id = randomBytes(12).toString('hex');
  const another = change.action === 'edit' ? {} : { id, comment: '', createdAt: at, writes: 1 };
  store.save({ ...written, ...another });
}
