import { AsyncLocalStorage } from 'node:async_hooks';

const observers = new AsyncLocalStorage<{ next: string | undefined }>();

/** Records where the next page of a list begins, if the response is that to a call within `observingNextLink`. */
export function noteNextLink(linkIn: () => string | undefined): void {
  const seen = observers.getStore();
  if (seen !== undefined) seen.next = linkIn();
}

/** Returns what `list` returns, and the link of the last page that it has received: the SDK's pages do not have it. */
export async function observingNextLink<T>(
  list: () => Promise<T>,
): Promise<{ result: T; next: string | undefined }> {
  const seen: { next: string | undefined } = { next: undefined };
  const result = await observers.run(seen, list);
  return { result, next: seen.next };
}
