import { History } from '../../../services/sandbox/src/simulation/history.ts';

export interface Note {
  id: string;
  folder: string;
  name: string;
  text: string;
  tags: Record<string, string>;
  /** The idempotency key of the last write of the text, if it had one. */
  key: string | undefined;
  writes: number;
  updatedAt: string;
}

/** A change, as it is persisted. */
export type NoteRecord = { note: Note } | { deleted: string } | { cleared: true };

type Remember = (id: string, note: Note | undefined) => void;

/** The notes and their recent states. Every change is persisted before it is applied. */
export class NoteStore {
  readonly #notes = new Map<string, Note>();
  readonly #persist: (record: NoteRecord) => void;
  readonly #now: () => number;
  readonly #history: History<Note>;

  constructor(persist: (record: NoteRecord) => void, now: () => number) {
    this.#persist = persist;
    this.#now = now;
    this.#history = new History((note) => ({ ...note, tags: { ...note.tags } }), now);
  }

  all = () => [...this.#notes.values()];

  get = (id: string) => this.#notes.get(id);

  /** The note with this name, as it was `lagMs` milliseconds ago. */
  find(folder: string, name: unknown, lagMs = 0): Note | undefined {
    const notes = lagMs === 0 ? this.all() : this.#history.at(this.#now() - lagMs);
    return notes.find((note) => note.folder === folder && note.name === name);
  }

  change(record: NoteRecord): void {
    this.#persist(record);
    this.#apply(record, (id, note) => this.#history.record(id, note));
  }

  replay(record: NoteRecord): void {
    this.#apply(record, (id, note) => this.#history.load(id, note));
  }

  #apply(record: NoteRecord, remember: Remember): void {
    if ('note' in record) {
      this.#notes.set(record.note.id, record.note);
      remember(record.note.id, record.note);
    } else if ('deleted' in record) {
      this.#notes.delete(record.deleted);
      remember(record.deleted, undefined);
    } else {
      this.#notes.clear();
      this.#history.clear();
    }
  }
}
