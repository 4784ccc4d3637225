import {
  type CompiledPolicies,
  type Epoch,
  permitsPlainRead,
  type RowSource,
  readCompiledPolicies,
} from '@secrets/access';
import { type Caller, effectivePolicies } from '@secrets/caller';
import type { EventRow } from '../queries/events.ts';
import { positionText } from './event-position.ts';
import { type MayRead, presentEvent } from './present-event.ts';

/** Properties of a listener that determine which events it sees. Listeners with equal properties share the work. */
type Listener = Pick<Caller, 'namespace' | 'tokenNamespace' | 'entityId' | 'policies' | 'identityPolicies'>;

export const audienceKey = ({
  namespace,
  tokenNamespace,
  entityId,
  policies,
  identityPolicies,
}: Listener): string => JSON.stringify([namespace, tokenNamespace, entityId, policies, identityPolicies]);

/** Listeners that may see the same events. */
export class Audience {
  readonly namespaceId: string;
  readonly #caller: Caller;
  #epoch: Epoch | undefined;
  #rules: CompiledPolicies | undefined;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.namespaceId = caller.namespace.id;
  }

  /**
   * Reads the policies again if access has changed since.
   * @param epoch of the newest change, read before the events
   * @throws what `readCompiledPolicies` throws
   */
  async follow(source: RowSource, epoch: Epoch): Promise<void> {
    if (epoch === this.#epoch) return;
    const { tokenNamespace, entityId } = this.#caller;
    const policies = effectivePolicies(this.#caller);
    this.#rules = await readCompiledPolicies(source, { policies, entityId, namespaceId: tokenNamespace.id });
    this.#epoch = epoch;
  }

  /** Returns the frames of those events that these listeners may see, in the format of server-sent events. */
  framesOf(rows: readonly EventRow[]): { row: EventRow; text: string }[] {
    const mayRead = remembered((path) => this.#mayRead(path));
    return rows.flatMap((row) => {
      const fields = presentEvent(row, this.#caller.namespace, mayRead);
      return fields === undefined ? [] : [{ row, text: frameOf(row, fields) }];
    });
  }

  #mayRead(path: string): boolean {
    return this.#rules !== undefined && permitsPlainRead(this.#rules, this.#caller, path);
  }
}

function remembered(mayRead: MayRead): MayRead {
  const known = new Map<string, boolean>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const decided = mayRead(path);
    known.set(path, decided);
    return decided;
  };
}

function frameOf({ xid, id, second, at, kind }: EventRow, fields: Record<string, unknown>): string {
  const place = positionText({ xid: BigInt(xid), id: BigInt(id), second });
  return frame({ id: place, time: at.toISOString(), kind, ...fields });
}

/** One event in the format of server-sent events. */
export const frame = (event: { id: string; kind: string; time: string }): string =>
  `id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
