import { randomUUID } from 'node:crypto';
import type { HandChange } from '../../../services/sandbox/src/stores/simulated-store.ts';
import type { NoteStore } from './note-store.ts';

/** Changes every note with this name. */
export function changeByHand(store: NoteStore, change: HandChange, nowMs: number): number {
  const changed = store
    .all()
    .filter(({ name }) => name === change.name)
    .filter(({ folder }) => change.region === undefined || folder === change.region);
  for (const note of changed) {
    if (change.action !== 'edit') store.change({ deleted: note.id });
    if (change.action === 'delete') continue;
    const another = change.action === 'edit' ? {} : { id: randomUUID(), tags: {} };
    const written = { text: change.value, key: undefined, updatedAt: new Date(nowMs).toISOString() };
    store.change({ note: { ...note, ...written, writes: note.writes + 1, ...another } });
  }
  return changed.length;
}
