import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';

const COMPACT_FROM_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 1024 * 1024;

/** A line of the journal: whose record it is, and the record. */
export interface Entry {
  of: string;
  record: object;
}

/**
 * An append-only file of JSON lines. A kept record is with the operating system before `keep` returns, so that
 * it survives the process being killed. The file is rewritten at the start and whenever it has grown to four
 * times what the state needs (64 MiB at least).
 */
export class Journal {
  readonly #file: string;
  readonly #snapshot: () => Iterable<Entry>;
  #descriptor: number;
  #bytes = 0;
  #compactAtBytes = COMPACT_FROM_BYTES;

  private constructor(file: string, snapshot: () => Iterable<Entry>) {
    this.#file = file;
    this.#snapshot = snapshot;
    this.#descriptor = this.#compact();
  }

  /** Replays what the file holds, then starts it afresh from `snapshot`. A torn last line is left out. */
  static open(file: string, replay: (entry: Entry) => void, snapshot: () => Iterable<Entry>): Journal {
    mkdirSync(dirname(file), { recursive: true });
    if (existsSync(file)) for (const line of linesOf(file)) replayLine(line, replay);
    return new Journal(file, snapshot);
  }

  keep(entry: Entry): void {
    this.#bytes += writeSync(this.#descriptor, `${JSON.stringify(entry)}\n`);
    if (this.#bytes < this.#compactAtBytes) return;
    const full = this.#descriptor;
    this.#descriptor = this.#compact();
    closeSync(full);
  }

  close(): void {
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
  }

  #compact(): number {
    const fresh = `${this.#file}.new`;
    const descriptor = openSync(fresh, 'w', 0o600);
    this.#bytes = 0;
    for (const entry of this.#snapshot()) this.#bytes += writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    fsyncSync(descriptor);
    renameSync(fresh, this.#file);
    this.#compactAtBytes = Math.max(COMPACT_FROM_BYTES, this.#bytes * 4);
    return descriptor;
  }
}

function replayLine(line: string, replay: (entry: Entry) => void): void {
  const entry: unknown = JSON.parse(line);
  if (isEntry(entry)) replay(entry);
}

function isEntry(entry: unknown): entry is Entry {
  if (typeof entry !== 'object' || entry === null || !('of' in entry) || !('record' in entry)) return false;
  return typeof entry.of === 'string' && typeof entry.record === 'object' && entry.record !== null;
}

/** The whole lines of a file; what follows the last line end was never acknowledged. */
function* linesOf(file: string): Generator<string> {
  const descriptor = openSync(file, 'r');
  const decoder = new StringDecoder('utf8');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  let rest = '';
  try {
    for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
      const lines = (rest + decoder.write(chunk.subarray(0, read))).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    closeSync(descriptor);
  }
}
