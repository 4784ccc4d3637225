import GithubSlugger from 'github-slugger';

interface BrokenReference {
  /** Counted from 1. */
  line: number;
  reference: string;
  reason: string;
}

const referencePattern = /(?<![\w/])docs\/[\w./-]+?\.md(#[\w-]*)?/g;

/**
 * Returns the references `docs/<page>.md` and `docs/<page>.md#<heading>` in a text whose page or heading does not
 * exist.
 *
 * @param readPage Returns the Markdown of a page, or undefined if there is no such page.
 */
export function brokenReferences(
  text: string,
  readPage: (page: string) => string | undefined,
): BrokenReference[] {
  return text.split('\n').flatMap((content, index) =>
    [...content.matchAll(referencePattern)].flatMap(([reference]) => {
      const [page, anchor] = reference.split('#') as [string, string?];
      const markdown = readPage(page);
      if (markdown === undefined) return [{ line: index + 1, reference, reason: 'no such page' }];
      if (anchor === undefined || anchorsOf(markdown).has(anchor)) return [];
      return [{ line: index + 1, reference, reason: 'no such heading' }];
    }),
  );
}

/** Returns the anchors of a page's headings, as code hosts and remark-validate-links derive them. */
function anchorsOf(markdown: string): Set<string> {
  const slugger = new GithubSlugger();
  const prose = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, '');
  const headings = [...prose.matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)].map((match) => match[1]!);
  return new Set(headings.map((heading) => slugger.slug(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))));
}
