import { type CompiledPolicies, fulfils, pathFromNamespace, readCompiledPolicies } from '@secrets/access';
import { type Caller, effectivePolicies } from '@secrets/caller';
import type { Sql } from '@secrets/db';
import { pathNames } from '@secrets/domain';
import type { EventRow } from '../queries/events.ts';
import { positionText } from './event-position.ts';
import { type MayRead, presentEvent } from './present-event.ts';

/** What decides about what a listener sees: listeners who have the same share the work. */
type Listener = Pick<Caller, 'namespace' | 'tokenNamespace' | 'entityId' | 'policies' | 'identityPolicies'>;

export const audienceKey = ({
  namespace,
  tokenNamespace,
  entityId,
  policies,
  identityPolicies,
}: Listener): string => JSON.stringify([namespace, tokenNamespace, entityId, policies, identityPolicies]);

/** A read without parameters, which is not wrapped. */
const plainRead = { parameters: { body: {}, query: [], isRead: true }, wrapSeconds: undefined };

/** Listeners who see the same. */
export class Audience {
  readonly namespaceId: string;
  readonly #caller: Caller;
  #epoch: number | undefined;
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
  async follow(sql: Sql, epoch: number): Promise<void> {
    if (epoch === this.#epoch) return;
    const { tokenNamespace, entityId } = this.#caller;
    const policies = effectivePolicies(this.#caller);
    this.#rules = await readCompiledPolicies(sql, { policies, entityId, namespaceId: tokenNamespace.id });
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
    const { path: own, alternative } = pathNames(path);
    const [seen, other] = [this.#seen(own), alternative === undefined ? undefined : this.#seen(alternative)];
    if (seen === undefined || this.#rules === undefined) return false;
    const { capabilities, conditions } = this.#rules.on(seen, other);
    const isUnconditional = conditions === undefined || fulfils(conditions, plainRead);
    return capabilities.includes('read') && isUnconditional;
  }

  /** The path as the policies name it. */
  #seen(path: string): string | undefined {
    return pathFromNamespace(this.#caller.tokenNamespace.path, this.#caller.namespace.path, path);
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

function frameOf({ xid, id, at, kind }: EventRow, fields: Record<string, unknown>): string {
  const place = positionText({ xid: BigInt(xid), id: BigInt(id) });
  return frame({ id: place, time: at.toISOString(), kind, ...fields });
}

/** One event in the format of server-sent events. */
export const frame = (event: { id: string; kind: string; time: string }): string =>
  `id: ${event.id}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`;
