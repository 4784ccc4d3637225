import { type DestinationDescription, whyValueRefused } from '@secrets/destinations';
import { Fault, type Json } from '@secrets/domain';
import type { Sealed } from '@secrets/seal';
import type { ConnectedDestination, PutRequest, ReleaseRequest, RemoveRequest } from './driver.ts';
import type { EntryRequest } from './entry-request.ts';
import type { InspectRequest, ListPage, Look, Untouched } from './look.ts';

/** The operations of a driver on one destination, which `store` describes. */
interface Operations<Store> {
  /** Returns what to remember of the external secret. */
  put(store: Store, request: PutRequest): Promise<Json>;
  remove(store: Store, request: RemoveRequest): Promise<void>;
  /** Absent if the store shows no owner. */
  release?(store: Store, request: ReleaseRequest): Promise<void>;
  inspect(store: Store, request: InspectRequest): Promise<Look>;
  findUntouched?(store: Store, requests: readonly EntryRequest[]): Promise<Untouched>;
  list(store: Store, after: string | null): Promise<ListPage>;
  /** Closes all sockets. */
  close(): void | Promise<void>;
}

/** Returns a destination whose operations find the signal of their call in the store. Values that are too large are refused. */
export const connected = <Store extends { signal: AbortSignal }>(
  description: DestinationDescription,
  store: Omit<Store, 'signal'>,
  { put, remove, release, inspect, findUntouched, list, close }: Operations<Store>,
): ConnectedDestination => {
  const within = (signal: AbortSignal) => ({ ...store, signal }) as Store;
  return {
    async put(request, signal) {
      requireFit(description, request.value);
      return { remote: await put(within(signal), request) };
    },
    remove: (request, signal) => remove(within(signal), request),
    ...(release && { release: (request, signal) => release(within(signal), request) }),
    inspect: (request, signal) => inspect(within(signal), request),
    ...(findUntouched && {
      findUntouched: (requests, signal) => findUntouched(within(signal), requests),
    }),
    list: (after, signal) => list(within(signal), after),
    close: async () => close(),
  };
};

/** Throws `Fault` for a value that the destination never accepts. The message states size and limit in UTF-8 bytes. */
function requireFit(description: DestinationDescription, value: Sealed<string>): void {
  const refusal = whyValueRefused(description, Buffer.byteLength(value.reveal(), 'utf8'));
  if (refusal !== undefined) throw new Fault(refusal.fault, refusal.sentence);
}
