/** A string, with the colon that makes it a name, or the beginning or end of an object. */
const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/** A name that occurs twice in one object of a valid JSON text; undefined if there is none. `JSON.parse` keeps only the last. */
export function repeatedName(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [found, colon] of json.matchAll(token)) {
    if (found === '{') open.push(new Set());
    else if (found === '}') open.pop();
    if (colon === undefined) continue;
    const text = found.slice(0, -colon.length);
    const name = text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
    const names = open.at(-1);
    if (names?.has(name)) return name;
    names?.add(name);
  }
  return undefined;
}
