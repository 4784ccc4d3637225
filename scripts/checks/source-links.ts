/** A link of a Markdown page from code in backticks to a source file that does not contain it. */
interface BrokenSourceLink {
  /** Counted from 1. */
  line: number;
  name: string;
  file: string;
}

const linkPattern = /\[(`[^\]]+`)\]\(([\w./-]+\.(?:ts|mjs))\)/g;

/**
 * Returns the links such as [`a`, `b`](path/to/file.ts) of a page whose file does not define one of the names.
 *
 * @param readSource Returns the text of a file, by its path relative to the page, or undefined if it does not exist.
 */
export function brokenSourceLinks(
  markdown: string,
  readSource: (path: string) => string | undefined,
): BrokenSourceLink[] {
  return markdown.split('\n').flatMap((content, index) =>
    [...content.matchAll(linkPattern)].flatMap(([, names, file]) => {
      const source = readSource(file!) ?? '';
      return [...names!.matchAll(/`(\w+)`/g)]
        .map(([, name]) => name!)
        .filter((name) => !definitionOf(name).test(source))
        .map((name) => ({ line: index + 1, name, file: file! }));
    }),
  );
}

const definitionOf = (name: string): RegExp =>
  new RegExp(`\\b(?:function|const|class|interface|type) ${name}\\b`);
