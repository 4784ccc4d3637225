import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CutProxy } from '../../../libs/testing/src/cut-proxy.ts';
import { send } from '../../harness/http.ts';
import type { ServiceProcess } from '../../harness/service-process.ts';
import type { Standstill } from '../check/overlaps.ts';
import type { Fault } from '../schedule/fault.ts';
import type { Stage } from './stage.ts';

type Of<Kind extends Fault['kind']> = Extract<Fault, { kind: Kind }>;

/** A store drops what a client that has given up had sent; a network that was down for long does not deliver it either. */
const longestHeldMs = 1_500;

/**
 * Delays until requests that began with the delay are amid their statements: the one of a process, or that of each
 * service in turn.
 */
const delaysOfStatement = 3;
const delaysOfRequest = 6;

/** Causes faults, and ends them. */
export class Injector {
  readonly #stage: Stage;
  /** The last fault of each process that ends or stops it: they come one after the other. */
  readonly #busy = new Map<string, Promise<void>>();
  /** In which processes were stopped. */
  readonly standstills: Standstill[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Causes one fault. Resolves when it has ended, and what it had ended runs again. */
  async cause(fault: Fault): Promise<void> {
    switch (fault.kind) {
      case 'kill':
        return this.exclusively(fault.process, () => this.#kill(fault));
      case 'stop':
        return this.exclusively(fault.process, () => this.#stopUntil(fault.process, sleep(fault.ms)));
      case 'host':
        return this.#stopHost(fault);
      case 'server':
        return this.exclusively(fault.server, () => this.#killServer(fault));
      case 'cut':
      case 'freeze':
      case 'delay':
        return this.#disturb(fault);
      case 'disk':
        return this.#fillDisk(fault);
      case 'clock':
        return this.#skew(fault);
      case 'store':
        return this.#worsen(fault);
    }
  }

  /** Stops a process as an upgrade does, and starts another program in its place. */
  replace(process: ServiceProcess, source: string): Promise<void> {
    return this.exclusively(process.name, async () => {
      await process.stop();
      process.replaceSource(source);
      await this.#start(process);
    });
  }

  /** Runs `work` while no other fault ends or stops this process or server. */
  async exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    const last = this.#busy.get(name) ?? Promise.resolve();
    const next = last.then(work);
    this.#busy.set(
      name,
      next.then(
        () => undefined,
        () => undefined,
      ),
    );
    return next;
  }

  #process(name: string): ServiceProcess {
    const { processes } = this.#stage.system;
    return processes[name as keyof typeof processes]!;
  }

  async #kill({ process: name, ms, slowedBy }: Of<'kill'>): Promise<void> {
    const process = this.#process(name);
    const proxies = this.#stage.links.of(name, 'postgres');
    delayAll(proxies, slowedBy);
    await sleep(slowedBy * delaysOfStatement);
    await process.kill();
    delayAll(proxies, 0);
    await sleep(ms);
    await this.#start(process);
  }

  async #killServer({ server, ms, slowedBy }: Of<'server'>): Promise<void> {
    const { links, system } = this.#stage;
    const proxies = links.to(server);
    delayAll(proxies, slowedBy);
    await sleep(slowedBy * delaysOfRequest);
    await system[server].restart('SIGKILL', () => {
      delayAll(proxies, 0);
      return sleep(ms);
    });
  }

  /** Starts it as a supervisor does: again, if it ends because what it needs is away. */
  async #start(process: ServiceProcess): Promise<void> {
    for (;;) {
      const ends = process.unexpectedEnds.length;
      try {
        return await process.start();
      } catch {
        process.unexpectedEnds.splice(ends); // it has refused to start, and said so
        await sleep(500);
      }
    }
  }

  /** Stops processes, as when their host is frozen, until `work` has ended. */
  async stopDuring<T>(processes: readonly string[], work: () => Promise<T>): Promise<T> {
    const done = Promise.withResolvers<void>();
    const stopped = processes.map((name) =>
      this.exclusively(name, () => this.#stopUntil(name, done.promise)),
    );
    try {
      return await work();
    } finally {
      done.resolve();
      await Promise.all(stopped);
    }
  }

  async #stopHost({ processes, ms }: Of<'host'>): Promise<void> {
    const stop = (process: string) => this.exclusively(process, () => this.#stopUntil(process, sleep(ms)));
    await Promise.all(processes.map(stop));
  }

  async #stopUntil(name: string, end: Promise<void>): Promise<void> {
    const process = this.#process(name);
    const from = Date.now();
    process.signal('SIGSTOP');
    await end;
    // A campaign that fails ends its processes, and its error must be the one that is seen.
    if (process.pid !== undefined) process.signal('SIGCONT');
    this.standstills.push({ process: name, from, to: Date.now() });
  }

  async #disturb(fault: Of<'cut' | 'freeze' | 'delay'>): Promise<void> {
    const proxies = this.#stage.links.of(fault.process, fault.to);
    for (const proxy of proxies) {
      if (fault.kind === 'cut') proxy.close();
      else if (fault.kind === 'freeze') proxy.freeze(true, { withNew: true });
      else proxy.delay(fault.byMs);
    }
    await sleep(fault.ms);
    const isStale = fault.to === 'stores' && fault.ms > longestHeldMs;
    for (const proxy of proxies) {
      if (fault.kind === 'cut') proxy.open();
      else if (fault.kind === 'delay') proxy.delay(0);
      else {
        if (isStale) proxy.cut();
        proxy.freeze(false);
      }
    }
  }

  async #fillDisk({ process: name, ms }: Of<'disk'>): Promise<void> {
    const disk = this.#stage.disks.get(name)!;
    disk.fill(this.#process(name).pid);
    await sleep(ms);
    disk.free(this.#process(name).pid);
  }

  async #skew({ process: name, ms, byMs }: Of<'clock'>): Promise<void> {
    const file = this.#stage.clockFile(name);
    writeFileSync(file, String(byMs));
    await sleep(ms);
    rmSync(file, { force: true });
  }

  async #worsen({ store, effect, ms }: Of<'store'>): Promise<void> {
    const faults = `${this.#stage.system.sandboxUrl}/_sandbox/faults`;
    const { body } = await send(faults, 'POST', { body: { store, ...effect } });
    await sleep(ms);
    await send(`${faults}/${body.id}`, 'DELETE');
  }
}

function delayAll(proxies: readonly CutProxy[], ms: number): void {
  for (const proxy of proxies) proxy.delay(ms);
}
