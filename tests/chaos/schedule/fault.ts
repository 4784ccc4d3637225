/** A server or service to which a process connects. `stores` includes the identity directory. */
export type Upstream = 'postgres' | 'rabbit' | 'services' | 'stores';

interface OnProcess {
  /** The name of a process, such as `secrets-2`. */
  process: string;
}

/** A fault that lasts for a time. */
interface Lasting {
  ms: number;
}

/** One disturbance of the system. Times are in milliseconds. */
export type Fault =
  /** SIGKILL, and a start `ms` later. Its statements take `slowedBy` longer before that, so that it dies amid some. */
  | ({ kind: 'kill'; slowedBy: number } & OnProcess & Lasting)
  /** SIGSTOP, then SIGCONT. */
  | ({ kind: 'stop' } & OnProcess & Lasting)
  /** The same for all processes of a host, as when a virtual machine is frozen. */
  | ({ kind: 'host'; processes: readonly string[] } & Lasting)
  /** Every connection to the upstream breaks, and new ones are refused. */
  | ({ kind: 'cut'; to: Upstream } & OnProcess & Lasting)
  /** Connections to the upstream, also new ones, stay open and carry nothing. */
  | ({ kind: 'freeze'; to: Upstream } & OnProcess & Lasting)
  /** Whatever is sent to the upstream or by it arrives `byMs` later. */
  | ({ kind: 'delay'; to: Upstream; byMs: number } & OnProcess & Lasting)
  /**
   * SIGKILL of PostgreSQL or RabbitMQ, and a start `ms` later. Whatever is sent to it or by it takes `slowedBy` longer
   * before that.
   */
  | ({ kind: 'server'; server: 'postgres' | 'rabbit'; slowedBy: number } & Lasting)
  /** The disk with the audit log of a gateway is full. */
  | ({ kind: 'disk' } & OnProcess & Lasting)
  /** The clock of a process is wrong by `byMs`. */
  | ({ kind: 'clock'; byMs: number } & OnProcess & Lasting)
  /** A store answers calls differently (docs/sandbox.md#faults). */
  | ({ kind: 'store'; store: string; effect: StoreEffect } & Lasting);

/** An effect of the sandbox with its options. */
export interface StoreEffect {
  effect: string;
  every: number;
  ms?: number;
  retryAfterSeconds?: number;
}

export interface ScheduledFault {
  /** Since the start of the schedule. */
  atMs: number;
  fault: Fault;
}

/** Returns the part of the system that a fault affects. */
export function targetOf(fault: Fault): string {
  switch (fault.kind) {
    case 'server':
      return fault.server;
    case 'host':
      return `of ${fault.processes.join(', ')}`;
    case 'store':
      return `${fault.store} (${fault.effect.effect})`;
    case 'cut':
    case 'freeze':
    case 'delay':
      return `${fault.process} to ${fault.to}`;
    default:
      return fault.process;
  }
}
