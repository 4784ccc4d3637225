import { Problem } from '@secrets/domain';
import type { GatewayRequest } from '../request/gateway-request.ts';

/** The documents that the gateway serves itself, by path. They have no envelope. */
export type OwnDocuments = Readonly<Record<string, () => Promise<unknown>>>;

/** Returns what produces the document at the path of a request; undefined if there is none. Throws `method_not_allowed` unless it is read. */
export function ownDocument(
  documents: OwnDocuments,
  { path, operation }: GatewayRequest,
): (() => Promise<unknown>) | undefined {
  const own = Object.hasOwn(documents, path) ? documents[path] : undefined;
  if (own !== undefined && operation !== 'read')
    throw new Problem('method_not_allowed', 'this path does not support that method', { allowed: ['GET'] });
  return own;
}
