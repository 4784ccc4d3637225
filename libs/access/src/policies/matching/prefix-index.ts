/** Finds the longest of some texts that a path begins with. */
export interface PrefixIndex<Entry> {
  /** The largest number of comparisons that one search can take. */
  readonly maxSteps: number;
  find(path: string): Entry | undefined;
}

interface Node<Entry> {
  text: string;
  entry: Entry;
  /** The longest other text that this one begins with. */
  shorter: Node<Entry> | undefined;
  depth: number;
}

/**
 * Indexes entries by texts, each of which occurs once. Between a text and a path that begins with it, in sorted order,
 * are only texts that begin with it too: so the longest one is the last text before the path, or one that this begins
 * with.
 */
export function prefixIndex<Entry>(
  entries: readonly (readonly [text: string, entry: Entry])[],
): PrefixIndex<Entry> {
  const nodes: Node<Entry>[] = [];
  for (const [text, entry] of [...entries].sort(([a], [b]) => (a < b ? -1 : 1))) {
    let shorter = nodes.at(-1);
    while (shorter !== undefined && !text.startsWith(shorter.text)) shorter = shorter.shorter;
    nodes.push({ text, entry, shorter, depth: 1 + (shorter?.depth ?? 0) });
  }
  const deepest = nodes.reduce((max, { depth }) => Math.max(max, depth), 0);
  return {
    maxSteps: Math.ceil(Math.log2(nodes.length + 1)) + deepest,
    find: (path) => {
      let found = lastUpTo(nodes, path);
      const common = found === undefined ? 0 : commonLength(found.text, path);
      while (found !== undefined && found.text.length > common) found = found.shorter;
      return found?.entry;
    },
  };
}

/** The last node whose text does not come after the path. */
function lastUpTo<Entry>(nodes: readonly Node<Entry>[], path: string): Node<Entry> | undefined {
  let [low, high] = [0, nodes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (nodes[middle]!.text <= path) low = middle + 1;
    else high = middle;
  }
  return nodes[low - 1];
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}
