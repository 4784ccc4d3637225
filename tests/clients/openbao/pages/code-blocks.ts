import { readFileSync } from 'node:fs';

interface CodeBlock {
  language: string;
  text: string;
}

const blocks = /^( *)```(\w+)\n(.*?)^ *```$/gms;

/** The code blocks of a page of `docs/`, by the heading above them; those before the first heading have the title of the page. */
function codeBlocksOf(page: string): Map<string, CodeBlock[]> {
  const text = readFileSync(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8');
  const found = new Map<string, CodeBlock[]>();
  for (const section of sectionsOf(text)) {
    const [heading = ''] = section.split('\n');
    const inside = [...section.matchAll(blocks)].map(([, indent = '', language = '', code = '']) => ({
      language,
      text: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }));
    found.set(heading.replace(/^#+ /, ''), inside);
  }
  return found;
}

/** Splits a page before its headings, which lines within code blocks are not. */
function sectionsOf(text: string): string[] {
  const sections: string[] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (/^ *```/.test(line)) isCode = !isCode;
    if (!isCode && /^#+ /.test(line)) sections.push(line);
    else sections.push(`${sections.pop() ?? ''}\n${line}`);
  }
  return sections;
}

/** The code of a language below a heading, which must have as many blocks as a test names. */
export function codeOf(page: string, heading: string, language: string): string[] {
  const found = (codeBlocksOf(page).get(heading) ?? []).filter((block) => block.language === language);
  if (found.length === 0) throw new Error(`docs/${page} has no block ${language} below ${heading}`);
  return found.map(({ text }) => text);
}
