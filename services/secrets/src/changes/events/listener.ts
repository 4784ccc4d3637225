import type { ServerResponse } from 'node:http';
import {
  type Audience,
  type CompiledPolicies,
  matchesStars,
  permitsEvent,
  permitsPlainRead,
} from '@secrets/access';
import type { Caller } from '@secrets/caller';
import type { EventPosition, EventRow } from '../../queries/events/events.ts';
import { cloudEvent, dataPathOf, eventType, type PresentEvent } from './cloud-event.ts';
import { includesNamespace, type Subscription } from './subscription.ts';

/** Bytes that may wait in memory for one listener before it is cut off. */
const maxUnreadBytes = 1_048_576;

/** An event that an audience may see, as it is sent. */
export interface SeenEvent {
  row: PresentEvent;
  text: string;
}

/**
 * Returns the events that an audience may see: those that it may subscribe to, or whose secret or metadata it may read.
 * @throws what `decideOnEach` throws
 */
export async function seenEvents(
  audience: Audience,
  rows: readonly PresentEvent[],
  source: string,
): Promise<SeenEvent[]> {
  const seen = await audience.decideOnEach(rows, (row, rules) => maySee(audience.caller, row, rules));
  return rows
    .filter((_row, at) => seen[at])
    .map((row) => ({ row, text: `data: ${JSON.stringify(cloudEvent(row, source))}\n\n` }));
}

function maySee(caller: Audience['caller'], row: PresentEvent, rules: CompiledPolicies): boolean {
  const { kind, mount, path, namespaceId, namespacePath } = row;
  const namespace = { ...caller.namespace, id: namespaceId, path: namespacePath };
  const holder = { tokenNamespace: caller.tokenNamespace, namespace };
  return (
    ['data', 'metadata'].some((part) => permitsPlainRead(rules, holder, `${mount}/${part}/${path}`)) ||
    permitsEvent(rules, holder, { path: dataPathOf(row), eventType: eventType(kind) })
  );
}

/** One client that listens. */
export class Listener {
  readonly audience: Audience;
  readonly #caller: Caller;
  readonly #subscription: Subscription;
  readonly #response: ServerResponse;
  readonly #begin: EventPosition;

  constructor(
    response: ServerResponse,
    listening: { audience: Audience; caller: Caller; subscription: Subscription; begin: EventPosition },
  ) {
    this.#response = response;
    this.audience = listening.audience;
    this.#caller = listening.caller;
    this.#subscription = listening.subscription;
    this.#begin = listening.begin;
  }

  /** Sends those of these events that the client has asked for, unless it is behind: then it is cut off. */
  send(events: readonly SeenEvent[]): void {
    const text = events
      .filter(({ row }) => this.wants(row))
      .map(({ text }) => text)
      .join('');
    if (text !== '') this.#write(text);
  }

  /** To be called when it begins, and every few seconds. */
  keepAlive(): void {
    this.#write(':\n\n');
  }

  end(): void {
    this.#response.end();
  }

  /** Whether the client has asked for an event. */
  wants({ xid, kind, namespaceId, namespacePath }: EventRow): boolean {
    const other = { id: namespaceId, path: namespacePath };
    return (
      BigInt(xid) >= this.#begin.xid &&
      matchesStars(this.#subscription.type, eventType(kind)) &&
      includesNamespace(this.#subscription, this.#caller.namespace, other)
    );
  }

  #write(text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    if (this.#response.writableLength > maxUnreadBytes) this.#response.destroy();
    else this.#response.write(text);
  }
}
