interface Fault {
  /** Counted from 1. */
  line: number;
  rule: CommentRule;
  text: string;
}

export type CommentRule = 'opening' | 'long line' | 'dialect' | 'context';

const maxCommentColumns = 130;
/** A long address, or an instruction that has to be on one line. */
const unbreakable = /https?:\/\/\S{60}|biome-ignore/;
const maxContextMembers = 6;
const maxFolderEntries = 14;

const inverted = /^(What|How|Which|Of|As|Such as)\b/;
const dialect = /(?<!`)\b(nobody|as (it|they) comes?|go(es)? on|concern(s|ed)?)\b(?!`)/i;

/** Matches a line that declares a member of a type or an object, whose docstring may be a noun phrase. */
const member = /^\s+(readonly )?(\[?['\w.]+\]?|\[[^\]]+\])\??[:(<,]/;

/**
 * Returns the faults in the comments and context types of a TypeScript file: docstrings outside members that begin
 * with an inverted clause ("What it returns"), comment lines over 130 characters, words that a reader of the field does
 * not expect, and interfaces named `…Context` that declare more than six members.
 */
export function commentFaults(source: string): Fault[] {
  const lines = source.split('\n');
  return lines.flatMap((line, index) => {
    const found: [CommentRule, boolean][] = [
      ['opening', opensInverted(lines, index)],
      ['long line', isComment(line) && line.length > maxCommentColumns && !unbreakable.test(line)],
      ['dialect', isComment(line) && dialect.test(line)],
      ['context', contextMembers(lines, index) > maxContextMembers],
    ];
    return found
      .filter(([, isFault]) => isFault)
      .map(([rule]) => ({ line: index + 1, rule, text: line.trim() }));
  });
}

const isComment = (line: string) => /^\s*(\/\/|\/?\*)/.test(line);

function opensInverted(lines: string[], start: number): boolean {
  if (!/^\s*\/\*\*(\s|$)/.test(lines[start]!)) return false;
  const end = lines.findIndex((line, index) => index >= start && line.includes('*/'));
  const text = lines.slice(start, end + 1).join(' ');
  const opening = text.replace(/^\s*\/\*\*[\s*]*/, '');
  return inverted.test(opening) && !member.test(lines[end + 1] ?? '');
}

/** Returns the number of members of the context type that a line opens, or 0 if it opens none. */
function contextMembers(lines: string[], start: number): number {
  if (!/^(export )?(interface|type) \w*Context\b.*\{$/.test(lines[start]!)) return 0;
  const end = lines.findIndex((line, index) => index > start && line.startsWith('}'));
  return lines.slice(start, end).filter((line) => /^ {2}(readonly )?\w+\??[:(<]/.test(line)).length;
}

/** Returns the folders that hold more than 14 files and folders, with their number of entries. */
export function crowdedFolders(files: string[]): { folder: string; entries: number }[] {
  const entriesOf = new Map<string, Set<string>>();
  for (const file of files) {
    const parts = file.split('/');
    parts.forEach((part, depth) => {
      const folder = parts.slice(0, depth).join('/');
      entriesOf.set(folder, (entriesOf.get(folder) ?? new Set()).add(part));
    });
  }
  return [...entriesOf]
    .map(([folder, entries]) => ({ folder, entries: entries.size }))
    .filter(({ entries }) => entries > maxFolderEntries);
}
