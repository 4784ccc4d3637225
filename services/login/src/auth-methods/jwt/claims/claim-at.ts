import { isJsonObject } from '@secrets/domain';

/** The claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** A name with more parts is none: it could be read in too many ways. */
const maxParts = 16;

/**
 * Returns the claim of a name; undefined if the token has none. A name that begins with a slash is a JSON pointer (RFC 6901).
 * Any other is the name of a claim, or leads into it with dots, as `kubernetes.io.namespace` does. A name that can be read in
 * two ways names nothing: one of them could be under the control of whoever asked for the token.
 */
export function claimAt(claims: Claims, name: string): unknown {
  if (name.startsWith('/')) return pointedAt(claims, name);
  const parts = name.split('.');
  if (parts.length > maxParts) return undefined;
  const found = dotted(claims, parts);
  return found.length === 1 ? found[0] : undefined;
}

function pointedAt(claims: Claims, pointer: string): unknown {
  let value: unknown = claims;
  for (const escaped of pointer.slice(1).split('/'))
    value = member(value, escaped.replaceAll('~1', '/').replaceAll('~0', '~'));
  return value;
}

function member(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d{0,5})$/.test(name) ? value[Number(name)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** All values that the parts lead to, with any number of them joined to one name. */
function dotted(value: unknown, parts: readonly string[]): unknown[] {
  if (!isJsonObject(value)) return [];
  return parts.flatMap((_, at) => {
    const next = member(value, parts.slice(0, at + 1).join('.'));
    if (next === undefined) return [];
    const rest = parts.slice(at + 1);
    return rest.length === 0 ? [next] : dotted(next, rest);
  });
}
