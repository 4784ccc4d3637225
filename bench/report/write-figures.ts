import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const begin = '<!-- figures -->';
const end = '<!-- end of figures -->';

/** Writes figures to a file: between its two marks if it has them, otherwise as its whole content. */
export function writeFigures(file: string, figures: string): void {
  const page = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  const isMarked = from >= 0 && to > from;
  const text = isMarked ? `${page.slice(0, from)}${begin}\n\n${figures}\n${page.slice(to)}` : figures;
  writeFileSync(file, text);
}
