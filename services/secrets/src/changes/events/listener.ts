import type { ServerResponse } from 'node:http';
import {
  type CompiledPolicies,
  type Epoch,
  matchesStars,
  permitsEvent,
  permitsPlainRead,
  type RowSource,
  readCompiledPolicies,
} from '@secrets/access';
import { type Caller, effectivePolicies } from '@secrets/caller';
import type { EventPosition, EventRow } from '../../queries/events/events.ts';
import { cloudEvent, dataPathOf, eventType, type PresentEvent } from './cloud-event.ts';
import { includesNamespace, type Subscription } from './subscription.ts';

/** Bytes that may wait in memory for one listener before it is cut off. */
const maxUnreadBytes = 1_048_576;

/** The policies of those who may see the same events, compiled once. */
export class Audience {
  readonly #caller: Caller;
  #epoch: Epoch | undefined;
  #rules: CompiledPolicies | undefined;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  /**
   * Reads the policies again if access has changed since.
   * @throws what `readCompiledPolicies` throws
   */
  async follow(source: RowSource, epoch: Epoch): Promise<void> {
    if (epoch === this.#epoch) return;
    const { tokenNamespace, entityId } = this.#caller;
    const policies = effectivePolicies(this.#caller);
    this.#rules = await readCompiledPolicies(source, { policies, entityId, namespaceId: tokenNamespace.id });
    this.#epoch = epoch;
  }

  /** Whether these listeners may subscribe to an event, or read its secret or the metadata of it. */
  maySee(row: PresentEvent): boolean {
    const { kind, mount, path, namespaceId, namespacePath } = row;
    const rules = this.#rules;
    const { tokenNamespace } = this.#caller;
    const holder = {
      tokenNamespace,
      namespace: { ...this.#caller.namespace, id: namespaceId, path: namespacePath },
    };
    return (
      rules !== undefined &&
      (['data', 'metadata'].some((part) => permitsPlainRead(rules, holder, `${mount}/${part}/${path}`)) ||
        permitsEvent(rules, holder, { path: dataPathOf(row), eventType: eventType(kind) }))
    );
  }
}

/** The properties of a caller that determine what it may see. */
export const audienceKey = ({
  namespace,
  tokenNamespace,
  entityId,
  policies,
  identityPolicies,
}: Caller): string => JSON.stringify([namespace, tokenNamespace, entityId, policies, identityPolicies]);

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

  /** Sends those of these events that the client has asked for and may see, unless it is behind: then it is cut off. */
  send(rows: readonly EventRow[], source: string): void {
    const text = rows
      .filter((row): row is PresentEvent => row.mount !== null && this.#wants(row))
      .filter((row) => this.audience.maySee(row as PresentEvent))
      .map((row) => `data: ${JSON.stringify(cloudEvent(row, source))}\n\n`)
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

  #wants({ xid, kind, namespaceId, namespacePath }: EventRow): boolean {
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
