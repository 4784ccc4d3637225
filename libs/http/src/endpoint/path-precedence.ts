/** How specific a segment of an Express path is: text, then `:one`, then `*many`. */
const rank = (segment: string): number => (segment.startsWith('*') ? 2 : segment.startsWith(':') ? 1 : 0);

/**
 * Orders paths so that the most specific one comes first: at the first segment in which they differ, text precedes a parameter, and a
 * parameter precedes a wildcard; what goes on after the same wildcard precedes what ends there. So `/auth/*mount/role/:name` precedes
 * `/auth/*mount/config`, which would otherwise take the role called `config` for a mount `…/role`.
 */
export function byPrecedence(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const difference = rank(left[index]!) - rank(right[index]!);
    if (difference !== 0) return difference;
  }
  return right.length - left.length;
}
