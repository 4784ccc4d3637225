import { setTimeout as sleep } from 'node:timers/promises';
import { every, type Repeated } from '@secrets/background';
import type { Db, Tx } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import { encryptPage } from './encrypt-page.ts';
import {
  beginPass,
  beginRotation,
  endPass,
  estimateRows,
  findRotation,
  lockRotation,
  type RotationRow,
  recordFinished,
  recordPage,
} from './rotation-row.ts';
import {
  forgetOtherKeys,
  isOtherKeyUsed,
  listSealKeys,
  recordSealKeys,
  type SealedSchema,
} from './seal-keys.ts';
import type { SealedTable } from './sealed-table.ts';

/** Sealed columns in the schema of a service, and the keys that seal them. */
export interface SealedData {
  db: Db;
  schema: SealedSchema;
  tables: readonly [SealedTable, ...SealedTable[]];
  keyRing: KeyRing;
  log: Logger;
}

export interface SealRotationOptions {
  /** How often a process reports its key and looks for a rotation. Default 5. */
  pollSeconds?: number;
  /**
   * How long before a pass no process may have reported another key for the pass to count as complete. Longer than
   * `freshSeconds`, a report and a statement take together: what was encrypted before a process read the new key is then
   * committed. Default 60.
   */
  quietSeconds?: number;
}

type Outcome = 'page' | 'idle';

/** Encrypts everything in a schema again after a new key was added (docs/adr/0022-rotation-of-seal-keys.md). */
export class SealRotation {
  readonly #data: SealedData;
  readonly #pollSeconds: number;
  readonly #quietSeconds: number;

  constructor(data: SealedData, { pollSeconds = 5, quietSeconds = 60 }: SealRotationOptions = {}) {
    this.#data = data;
    this.#pollSeconds = pollSeconds;
    this.#quietSeconds = quietSeconds;
  }

  /**
   * Records the current key, and starts the work in the background.
   * @throws {SealKeyError} if a key is missing that may be needed
   */
  async start(): Promise<Repeated> {
    await this.#report({ freshSeconds: 0 });
    return every(this.#pollSeconds, 'seal keys', this.#data.log, (isStopping) => this.#run(isStopping));
  }

  /** Begins to encrypt everything with the current key of this process, unless that is in progress or nothing has another key. */
  async begin(): Promise<void> {
    const { db, schema, keyRing, tables } = this.#data;
    await this.#report({ freshSeconds: 0 });
    const recorded = await listSealKeys(db, schema);
    if (recorded.some(({ id }) => id !== keyRing.current.id))
      await beginRotation(db, schema, keyRing.current.id, tables[0].name);
    else await recordFinished(db, schema, keyRing.current.id);
  }

  /** The keys that may be needed, and the newest rotation. */
  async status() {
    const { db, schema, keyRing, tables } = this.#data;
    const names = tables.map(({ name }) => name);
    const [keys, rotation, rows] = [
      await listSealKeys(db, schema),
      await findRotation(db, schema),
      await estimateRows(db, names),
    ];
    return { currentKey: keyRing.current.id, keys, rotation, rows };
  }

  #report({ freshSeconds }: { freshSeconds: number }): Promise<void> {
    const { db, schema, keyRing } = this.#data;
    return recordSealKeys(db, schema, keyRing, { freshSeconds });
  }

  async #run(isStopping: () => boolean): Promise<void> {
    let reportedAt = Number.NEGATIVE_INFINITY;
    do {
      if (performance.now() - reportedAt > this.#pollSeconds * 1_000) {
        await this.#report({ freshSeconds });
        reportedAt = performance.now();
      }
      if ((await this.advance()) === 'idle') return;
      await sleep(pauseMs);
    } while (!isStopping());
  }

  /**
   * Encrypts one page again, in one transaction: a process that dies has done all of it or nothing. Returns `idle` if there is
   * nothing to do now, or another process does it.
   */
  async advance(): Promise<Outcome> {
    const { outcome, log } = await this.#data.db.transaction((tx) => this.#advanceIn(tx));
    log?.();
    return outcome;
  }

  /** Logs only what was committed. */
  async #advanceIn(tx: Tx): Promise<{ outcome: Outcome; log?: () => void }> {
    const { schema, keyRing, tables } = this.#data;
    const rotation = await lockRotation(tx, schema);
    if (rotation === undefined || rotation.keyId !== keyRing.current.id) return { outcome: 'idle' };
    if (rotation.atTable === null) {
      const quiet = { seconds: this.#quietSeconds, before: undefined };
      if (await isOtherKeyUsed(tx, schema, rotation.keyId, quiet)) return { outcome: 'idle' };
      await beginPass(tx, schema, tables[0].name);
      return { outcome: 'page' };
    }
    return this.#page(tx, rotation, rotation.atTable);
  }

  async #page(tx: Tx, rotation: RotationRow, atTable: string) {
    const { schema, keyRing, tables, log } = this.#data;
    const index = Math.max(
      0,
      tables.findIndex(({ name }) => name === atTable),
    );
    const table = tables[index]!;
    const page = await encryptPage(tx, keyRing, table, rotation.afterKey ?? undefined);
    const next = page.last === undefined ? tables[index + 1] : table;
    await recordPage(tx, schema, {
      ...page,
      atTable: (next ?? table).name,
      afterKey: page.last ?? null,
      unreadable: page.unreadable.length,
    });
    const left = rotation.unreadable + page.unreadable.length;
    const ended = next === undefined && (await this.#endPass(tx, rotation, { ...page, left }));
    const report = () => {
      for (const { key, reason } of page.unreadable)
        log.error({ table: table.name, key, reason }, 'a value cannot be decrypted; it keeps its seal key');
      if (ended)
        log.info({ schema, key: rotation.keyId, unreadable: left }, 'rotation of the seal key ended');
    };
    return { outcome: 'page' as const, log: report };
  }

  /**
   * Finishes the rotation if the pass has left nothing, and no process has encrypted with another key meanwhile. Otherwise
   * another pass follows, except for what no pass could decrypt: its key stays recorded.
   */
  async #endPass(
    tx: Tx,
    { keyId, passStartedAt, locked }: RotationRow,
    page: { locked: number; left: number },
  ): Promise<boolean> {
    const { schema } = this.#data;
    const quiet = { seconds: this.#quietSeconds, before: passStartedAt };
    const isComplete = locked + page.locked === 0 && !(await isOtherKeyUsed(tx, schema, keyId, quiet));
    if (isComplete && page.left === 0) await forgetOtherKeys(tx, schema, keyId);
    await endPass(tx, schema, isComplete);
    return isComplete;
  }
}

/** A report within this time is not written again. It is part of `quietSeconds`. */
const freshSeconds = 30;

/** Leaves time for requests: encryption happens in the process that serves them. */
const pauseMs = 20;
