/** Whether a text can hold a number that loses digits: cheap, and sometimes true for one that does not. */
const mayLose = /\d{16}|\d[eE][+-]?\d/;

type Reviver = (this: unknown, name: string, value: unknown, context?: { source?: string }) => unknown;

/**
 * The name of a field of a JSON text whose number would not be kept as it was sent: an integer with more digits than
 * a double has, or one that is too large for it. Undefined when there is none, or the text is no JSON. A secret that
 * came back with other digits would be worse than a refusal.
 */
export function inexactNumber(body: Buffer): string | undefined {
  const text = body.toString('utf8');
  if (!mayLose.test(text)) return undefined;
  let found: string | undefined;
  const look: Reviver = (name, value, context) => {
    if (typeof value === 'number' && !isExact(value, context?.source ?? '')) found ??= name;
    return value;
  };
  try {
    JSON.parse(text, look as (name: string, value: unknown) => unknown);
  } catch {
    return undefined; // the parser that follows says so
  }
  return found;
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(source) || BigInt(source) === BigInt(value);
}
