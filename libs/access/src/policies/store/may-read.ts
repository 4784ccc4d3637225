import type { Caller, Capability } from '@secrets/caller';
import { seenPath } from '../../paths/seen-path.ts';
import type { CompiledPolicies } from '../matching/compile-policies.ts';
import { meetsConditions } from '../rules/conditions.ts';
import { matchesStars } from '../rules/event-types.ts';

/** A read without parameters, whose response is not wrapped. */
const plainRead = { parameters: { path: '', body: {}, query: [], isRead: true }, wrapSeconds: undefined };

/** A write with this body; without one, of a version of a secret. */
const plainWrite = (body: Readonly<Record<string, unknown>> = { data: {}, options: { cas: 0 } }) => ({
  parameters: { path: '', body, query: [], isRead: false },
  wrapSeconds: undefined,
});

/**
 * Whether policies permit a plain `GET` of a path in the namespace of the request, by either of its names. Conditions
 * that such a request does not fulfil, as a wrapping TTL or a required parameter, forbid it. The path is decoded,
 * without leading and trailing slashes.
 */
export function permitsPlainRead(
  policies: CompiledPolicies,
  caller: Pick<Caller, 'tokenNamespace' | 'namespace'>,
  path: string,
): boolean {
  return permits(policies, caller, { path, capability: 'read' });
}

/** An operation on a path, which is decoded, without leading and trailing slashes. */
export interface PlainRequest {
  path: string;
  /** A read without parameters, or the write of something that does not exist yet, or does; `sudo` in addition to an update. */
  capability: Extract<Capability, 'read' | 'create' | 'update' | 'sudo'>;
  /** The body of a write; by default, that of a version of a secret. */
  body?: Readonly<Record<string, unknown>>;
}

/** Whether policies permit an operation in the namespace of the request, as `permitsPlainRead`. */
export function permits(
  policies: CompiledPolicies,
  caller: Pick<Caller, 'tokenNamespace' | 'namespace'>,
  { path, capability, body }: PlainRequest,
): boolean {
  const seen = seenPath(path, caller);
  if (seen === undefined) return false;
  const { capabilities, conditions } = policies.on(seen);
  const request = capability === 'read' ? plainRead : plainWrite(body);
  return (
    capabilities.includes(capability) && (conditions === undefined || meetsConditions(conditions, request))
  );
}

/**
 * Whether policies permit to receive the events of a type about a path in the namespace of the request, by the capability
 * `subscribe`, whatever conditions they have for requests. The path is as in `permitsPlainRead`.
 */
export function permitsEvent(
  policies: CompiledPolicies,
  caller: Pick<Caller, 'tokenNamespace' | 'namespace'>,
  { path, eventType }: { path: string; eventType: string },
): boolean {
  const seen = seenPath(path, caller);
  const types = seen && policies.on(seen).eventTypes;
  return types?.some((pattern) => matchesStars(pattern, eventType)) ?? false;
}
