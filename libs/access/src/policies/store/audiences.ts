import type { EventEmitter } from 'node:events';
import { type Caller, effectivePolicies } from '@secrets/caller';
import type { Epoch } from '../../changes/epoch.ts';
import type { RowSource } from '../../rows/row-guard.ts';
import type { CompiledPolicies } from '../matching/compile-policies.ts';
import { decideOnEach, readCompiledPolicies } from './policy-reader.ts';

/** The properties of a listener that determine which events it sees. Listeners with equal properties share the work. */
const keyOf = ({ namespace, tokenNamespace, entityId, policies, identityPolicies }: Caller): string =>
  JSON.stringify([namespace, tokenNamespace, entityId, policies, identityPolicies]);

/** Those who listen to a stream of events and may see the same ones. */
export class Audience {
  readonly caller: Caller;
  #epoch: Epoch | undefined;
  #rules: CompiledPolicies | undefined;

  constructor(caller: Caller) {
    this.caller = caller;
  }

  /**
   * Reads the policies again if access has changed since.
   * @param epoch of the newest change, read before the events
   * @throws what `readCompiledPolicies` throws
   */
  async follow(source: RowSource, epoch: Epoch): Promise<void> {
    if (epoch === this.#epoch) return;
    const { tokenNamespace, entityId } = this.caller;
    const policies = effectivePolicies(this.caller);
    this.#rules = await readCompiledPolicies(source, { policies, entityId, namespaceId: tokenNamespace.id });
    this.#epoch = epoch;
  }

  /**
   * Decides on events by the policies that were read last; before that, on none.
   * @throws what `decideOnEach` throws
   */
  async decideOnEach<Event, Result>(
    events: readonly Event[],
    decide: (event: Event, rules: CompiledPolicies) => Result,
  ): Promise<Result[]> {
    const rules = this.#rules;
    if (rules === undefined) return [];
    return decideOnEach(this.caller.tokenNamespace.id, rules, events, (event) => decide(event, rules));
  }
}

/** The audiences of those who listen to a process. */
export class Audiences {
  readonly #byKey = new Map<string, { audience: Audience; members: number }>();

  get all(): Audience[] {
    return [...this.#byKey.values()].map(({ audience }) => audience);
  }

  /** Adds a listener until its response, which has not been closed yet, is. */
  join(caller: Caller, response: Pick<EventEmitter, 'once'>): Audience {
    const key = keyOf(caller);
    const shared = this.#byKey.get(key) ?? { audience: new Audience(caller), members: 0 };
    this.#byKey.set(key, shared);
    shared.members += 1;
    response.once('close', () => {
      shared.members -= 1;
      if (shared.members === 0) this.#byKey.delete(key);
    });
    return shared.audience;
  }
}

/**
 * Runs work for audiences: for those of one namespace in turn, for those of different ones at the same time, since each namespace
 * may have to wait for its share of CPU time.
 */
export async function forEachAudience<Listener extends { readonly audience: Audience }>(
  listeners: Iterable<Listener>,
  work: (audience: Audience, listeners: readonly Listener[]) => Promise<void>,
): Promise<void> {
  const byAudience = Map.groupBy(listeners, ({ audience }) => audience);
  const byNamespace = Map.groupBy(byAudience, ([audience]) => audience.caller.tokenNamespace.id);
  await Promise.all(
    [...byNamespace.values()].map(async (audiences) => {
      for (const [audience, own] of audiences) await work(audience, own);
    }),
  );
}
