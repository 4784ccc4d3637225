import { invalid } from '@secrets/domain';

/** Parses a policy in JSON. Throws `invalid` if it has a syntax error or a name occurs twice in an object. */
export function readJson(source: string): unknown {
  const tree = parsedJson(source);
  const repeated = repeatedName(source);
  if (repeated !== undefined)
    throw invalid(
      `policy: ${JSON.stringify(repeated)} occurs twice in one JSON object, and only the last would count`,
    );
  return tree;
}

function parsedJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    throw invalid(`policy: ${lineOf(source, error)}invalid JSON`);
  }
}

function lineOf(source: string, error: unknown): string {
  const at = /position (\d+)/.exec(String(error))?.[1];
  return at === undefined ? '' : `line ${source.slice(0, Number(at)).split('\n').length}: `;
}

/** A string, with the colon that makes it a name, or the beginning or end of an object. */
const token = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/** A name that occurs twice in one object of a valid JSON text; undefined if there is none. `JSON.parse` keeps only the last. */
function repeatedName(text: string): string | undefined {
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
