import { matchesStars } from '@secrets/access';
import type { Namespace } from '@secrets/caller';
import { invalid } from '@secrets/domain';

/** The events that a client asks for: a pattern of event types, and the namespaces below its own whose events it wants, too. */
export interface Subscription {
  type: string;
  namespaces: readonly string[];
}

const maxPatterns = 20;

/** Parses the subscription that a client asks for (patterns of `matchesStars`). Throws `invalid` for what is not supported. */
export function parseSubscription(
  type: string,
  { json, filter, namespaces = '' }: { json?: string | undefined; filter?: unknown; namespaces?: string },
): Subscription {
  if (json !== 'true') throw invalid('json=true is required: events are only sent as JSON');
  if (filter !== undefined)
    throw invalid('filter is not supported; subscribe to an event type, and filter in the client');
  const patterns = namespaces.split(',').filter((pattern) => pattern !== '');
  if (patterns.length > maxPatterns) throw invalid(`namespaces must have at most ${maxPatterns} patterns`);
  return { type, namespaces: patterns.map(trimmed) };
}

/** Whether a subscription of one namespace includes another one: itself, and those below it that match a pattern. */
export function includesNamespace(
  { namespaces }: Subscription,
  own: Namespace,
  other: Pick<Namespace, 'id' | 'path'>,
): boolean {
  if (own.id === other.id) return true;
  const prefix = own.path === '' ? '' : `${own.path}/`;
  if (!other.path.startsWith(prefix)) return false;
  const below = other.path.slice(prefix.length);
  return namespaces.some((pattern) => matchesStars(pattern, below));
}

const trimmed = (path: string): string => path.replace(/^\/+|\/+$/g, '');
