/** A string, with the colon that makes it a name, or the beginning or end of an object. */
const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/** A name that occurs twice in one object of a valid JSON text; undefined if there is none. `JSON.parse` keeps only the last. */
export function repeatedName(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [found, colon] of text.matchAll(token)) {
    if (found === '{') open.push(new Set());
    else if (found === '}') open.pop();
    if (colon === undefined) continue;
    const name = JSON.parse(found.slice(0, -colon.length)) as string;
    const names = open.at(-1);
    if (names?.has(name)) return name;
    names?.add(name);
  }
  return undefined;
}
