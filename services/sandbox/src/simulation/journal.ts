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

/** A line of the journal. The field names are the file format: existing files depend on them. */
export interface JournalEntry {
  /** The key of the simulation that the record belongs to. */
  of: string;
  record: object;
}

/**
 * An append-only file of JSON lines. `append` hands each record to the operating system before it returns, so the record
 * survives a killed process. The file is compacted at the start, and whenever it exceeds four times the size of its last
 * snapshot (at least 64 MiB).
 */
export class Journal {
  readonly #file: string;
  readonly #snapshot: () => Iterable<JournalEntry>;
  #descriptor: number;
  #bytes = 0;
  #compactAtBytes = COMPACT_FROM_BYTES;

  private constructor(file: string, snapshot: () => Iterable<JournalEntry>) {
    this.#file = file;
    this.#snapshot = snapshot;
    this.#descriptor = this.#compact();
  }

  /**
   * Replays the file, then compacts it to `snapshot`. Ignores an incomplete last line.
   * @throws SyntaxError if any other line is not JSON; an error of the file system
   */
  static open(
    file: string,
    replay: (entry: JournalEntry) => void,
    snapshot: () => Iterable<JournalEntry>,
  ): Journal {
    mkdirSync(dirname(file), { recursive: true });
    if (existsSync(file)) for (const line of linesOf(file)) replayLine(line, replay);
    return new Journal(file, snapshot);
  }

  append(entry: JournalEntry): void {
    this.#bytes += writeSync(this.#descriptor, `${JSON.stringify(entry)}\n`);
    if (this.#bytes < this.#compactAtBytes) return;
    const previous = this.#descriptor;
    this.#descriptor = this.#compact();
    closeSync(previous);
  }

  close(): void {
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
  }

  #compact(): number {
    const replacement = `${this.#file}.new`;
    const descriptor = openSync(replacement, 'w', 0o600);
    this.#bytes = 0;
    for (const entry of this.#snapshot()) this.#bytes += writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    fsyncSync(descriptor);
    renameSync(replacement, this.#file);
    this.#compactAtBytes = Math.max(COMPACT_FROM_BYTES, this.#bytes * 4);
    return descriptor;
  }
}

function replayLine(line: string, replay: (entry: JournalEntry) => void): void {
  const entry: unknown = JSON.parse(line);
  if (isJournalEntry(entry)) replay(entry);
}

function isJournalEntry(entry: unknown): entry is JournalEntry {
  if (typeof entry !== 'object' || entry === null || !('of' in entry) || !('record' in entry)) return false;
  return typeof entry.of === 'string' && typeof entry.record === 'object' && entry.record !== null;
}

/** The complete lines of a file. Whatever follows the last line break was never acknowledged. */
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
