/** Rank of a segment of an Express path, the most specific first: literal, `:parameter`, `*wildcard`. */
const rank = (segment: string): number => (segment.startsWith('*') ? 2 : segment.startsWith(':') ? 1 : 0);

/**
 * Orders paths so that the most specific one comes first: at the first segment of different kinds, a literal precedes a
 * parameter and a parameter precedes a wildcard; otherwise the longer path comes first. So `/auth/*mount/role/:name` precedes
 * `/auth/*mount/config`, which would otherwise match the role `config` as the configuration of a mount `…/role`.
 */
export function byPrecedence(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = rank(left[index]!) - rank(right[index]!);
    if (difference !== 0) return difference;
  }
  return right.length - left.length;
}
