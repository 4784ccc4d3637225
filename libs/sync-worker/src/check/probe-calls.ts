import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, type Json } from '@secrets/domain';
import { seal } from '@secrets/seal';
import { type Probe, recordProbePut, recordProbeStart } from '@secrets/sync-entries';
import { abortable } from '../driver/abortable.ts';
import type { ConnectedDestination } from '../driver/driver.ts';
import { valueHash } from '../entry/values/value-hash.ts';
import type { WorkerContext } from '../entry/worker-context.ts';

type Worker = Pick<WorkerContext, 'db' | 'keyRing' | 'clients' | 'limits'>;

const notReadyPauseMs = 1_000;

/** The driver calls of one check. A call that fails with `not_ready` is repeated until the time is over. */
export class ProbeCalls {
  readonly #worker: Worker;
  readonly #probe: Probe;
  #remote: Json | null;
  #puts = 0;
  #mayArriveLate = false;

  constructor(worker: Worker, probe: Probe) {
    this.#worker = worker;
    this.#probe = probe;
    this.#remote = probe.remote;
  }

  /** Creates the client, or reuses the one that entries use. */
  connect(endsAtMs: number): Promise<void> {
    return this.#call(endsAtMs, async () => {});
  }

  /** Writes another random value, and has the driver read the probe if it exists already. */
  async put(endsAtMs: number): Promise<void> {
    const { checkId, externalName, putStartedAt } = this.#probe;
    this.#puts += 1;
    const request = {
      entryId: checkId,
      externalName,
      value: seal(randomBytes(16).toString('hex')),
      idempotencyToken: createHash('sha256').update(`${checkId}:${this.#puts}`).digest('hex'),
      overwrite: false,
      remote: this.#remote,
      putStartedAt,
      recordStart: () => this.#recordStart(),
      recordRemote: (remote: Json) => this.#recordRemote(remote),
      valueHash: valueHash(this.#worker.keyRing),
      valueChanged: true,
      verify: this.#remote !== null,
    };
    const { remote } = await this.#call(endsAtMs, (connected, signal) =>
      connected.put(request, signal),
    ).catch((error: unknown) => {
      this.#mayArriveLate ||= isOutcomeUnknown(error);
      throw error;
    });
    await this.#recordRemote(remote);
  }

  async remove(endsAtMs: number): Promise<void> {
    const { checkId, externalName, putStartedAt } = this.#probe;
    const request = { entryId: checkId, externalName, remote: this.#remote, putStartedAt };
    await this.#call(endsAtMs, (connected, signal) => connected.remove(request, signal));
  }

  /** Whether a put may still write the probe, even after its removal, because its outcome is unknown. */
  get mayArriveLate(): boolean {
    return this.#mayArriveLate;
  }

  async #recordStart(): Promise<void> {
    if (!(await recordProbeStart(this.#worker.db, this.#probe.checkId)))
      throw new Fault('unavailable', 'the check has ended before its probe was written');
    this.#probe.putStartedAt ??= new Date();
  }

  async #recordRemote(remote: Json): Promise<void> {
    this.#remote = remote;
    await recordProbePut(this.#worker.db, this.#probe.checkId, remote);
  }

  async #call<T>(
    endsAtMs: number,
    call: (connected: ConnectedDestination, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      try {
        return await this.#callOnce(endsAtMs, call);
      } catch (error) {
        const isNotReady = error instanceof Fault && error.kind === 'not_ready';
        if (!isNotReady || performance.now() + 2 * notReadyPauseMs > endsAtMs) throw error;
        await sleep(notReadyPauseMs);
      }
    }
  }

  /** Ends at the time limit even if the driver ignores the signal. */
  #callOnce<T>(
    endsAtMs: number,
    call: (connected: ConnectedDestination, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { limits, clients } = this.#worker;
    return limits.attempts.run(performance.now(), (ofAttempt) => {
      const timeLeft = AbortSignal.timeout(Math.max(0, Math.ceil(endsAtMs - performance.now())));
      const signal = AbortSignal.any([ofAttempt, timeLeft]);
      const working = clients.use(this.#probe.destination, (connected) =>
        abortable(call(connected, signal), signal, timedOut),
      );
      return abortable(working, signal, timedOut);
    });
  }
}

const isOutcomeUnknown = (error: unknown): boolean =>
  !(error instanceof Fault) || error.kind === 'unavailable';

const timedOut = () => new Fault('unavailable', 'the destination did not respond in time');
